// Reads and changes the numbers that a pod's store keeps; changed, as a bug in a script or a full store would.
import { spawnSync } from 'node:child_process';
import { STATE_NUMBERS, type StateNumber } from '../../src/frontier/redis/state-numbers.js';
import type { RedisServer } from './redis-server.js';

/** Adds to a number of the store, as a bug in a script would: between two calls. */
export function falsify(server: RedisServer, name: StateNumber, change: number): void {
  addToNumber(server, name, change);
}

/** A number of the store, between two calls. */
export function storedNumber(server: RedisServer, name: StateNumber): number {
  return addToNumber(server, name, 0);
}

function addToNumber({ port }: RedisServer, name: StateNumber, change: number): number {
  const at = STATE_NUMBERS.indexOf(name);
  const script = `
    local numbers = redis.call('HGET', 'state', 'numbers')
    if not numbers then return '0' end
    local from = ${at} * 8
    local value = struct.unpack('<d', numbers, from + 1) + (${change})
    local changed = string.sub(numbers, 1, from) .. struct.pack('<d', value) .. string.sub(numbers, from + 9)
    redis.call('HSET', 'state', 'numbers', changed)
    return tostring(value)`;
  const { stdout, stderr } = spawnSync('redis-cli', ['-p', String(port), 'EVAL', script, '0'], { encoding: 'utf8' });
  if (!/^-?\d/.test(stdout)) throw new Error(stdout + stderr);
  return Number(stdout);
}
