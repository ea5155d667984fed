// How long a run may take to end, from the signal on: what places processes (Kubernetes, systemd) must wait as long.

/** Visits get ten seconds, closing thirty: then a worker is killed. */
export const STOP_PATIENCE_MS = 60_000;
/** Nothing of a pod can be settled while its store is away. */
export const AWAY_PATIENCE_MS = 5_000;
/** After the workers: files are repaired, the role is given back, the report is written. */
const CLOSING_MS = 30_000;

/** From SIGTERM to the end, at most. Who kills earlier loses nothing, but what was in progress is fetched again. */
export const GRACE_SECS = (STOP_PATIENCE_MS + CLOSING_MS) / 1_000;
