import { describe, expect, it } from 'vitest';
import { createAddressSeats } from './address-seats.js';

describe('seats at an address', () => {
  it('gives as many as there are, and the next to whoever waited longest', async () => {
    const seats = createAddressSeats({ perAddress: 2, maxWaitMs: 10_000 });
    const [one, two] = [await seats.take(['a'], 'h', undefined), await seats.take(['a'], 'h', undefined)];
    const order: string[] = [];
    const third = seats.take(['a'], 'h', undefined).then((seat) => (order.push('third'), seat));
    const fourth = seats.take(['a'], 'h', undefined).then((seat) => (order.push('fourth'), seat));
    expect(seats.waiting).toBe(2);
    one.leave();
    one.leave();
    (await third).leave();
    await fourth;
    expect(order).toEqual(['third', 'fourth']);
    two.leave();
    expect(seats.waiting).toBe(0);
  });

  it('takes another address of the host when the first is full', async () => {
    const seats = createAddressSeats({ perAddress: 1, maxWaitMs: 10_000 });
    expect((await seats.take(['a', 'b'], 'h', undefined)).address).toBe('a');
    const second = await seats.take(['a', 'b'], 'h', undefined);
    expect(second.address).toBe('b');
    const third = seats.take(['a', 'b'], 'h', undefined);
    second.leave();
    expect((await third).address).toBe('b');
  });

  it('tells who waited too long, and whoever was aborted', async () => {
    const seats = createAddressSeats({ perAddress: 1, maxWaitMs: 1 });
    await seats.take(['a'], 'h', undefined);
    await expect(seats.take(['a'], 'h', undefined)).rejects.toMatchObject({ code: 'ADDRESS_BUSY', class: 'transient' });
    const abortion = new AbortController();
    const aborted = seats.take(['a'], 'h', abortion.signal);
    abortion.abort();
    await expect(aborted).rejects.toMatchObject({ code: 'ABORTED' });
    expect(seats.waiting).toBe(0);
  });
});
