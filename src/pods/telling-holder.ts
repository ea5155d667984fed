// A worker's life in its pod, whose beginning and every new one are told to its supervisor.
import { createHolder, type Holder, newHolderId } from '../frontier/holder.js';

/** A holder whose every life is told to the supervisor, which releases it when this process dies. */
export function tellingHolder(
  frontier: Parameters<typeof createHolder>[0],
  leaseMs: number,
  onHolder: (id: string) => void,
  id = newHolderId(),
): Holder {
  const holder = createHolder(frontier, { id, leaseMs, onLost: () => onHolder(holder.id) });
  onHolder(id);
  return holder;
}
