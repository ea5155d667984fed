// The hosts of a synthetic web: which knobs each has (by chance and by override) and which lead to which.
// Promise: a host's knobs depend only on seed, options and number; no healthy host hides behind a broken one.
import { hash32, SALT, share } from './pages/chance.js';
import type { HostPlan, SimwebPlan } from './knobs.js';
import { planHost } from './options.js';

/** Each host's knobs; hosts without anything of their own share one frozen object. */
export function createHostPlans(plan: SimwebPlan): (host: number) => HostPlan {
  const { seed, everyHost, slowHosts, brokenHosts, traps, overrides } = plan;
  const variants = new Map<string, HostPlan>();
  const variant = (key: string, knobs: object): HostPlan => {
    const known = variants.get(key);
    if (known) return known;
    const made = planHost('options', knobs, everyHost);
    variants.set(key, made);
    return made;
  };
  const single = new Map<number, HostPlan>();

  function rolled(host: number): HostPlan {
    if (host === 0 && traps < 1) return everyHost;
    const fault =
      host > 0 && brokenHosts.share > 0 && share(hash32(seed, host, 0, SALT.brokenHost)) < brokenHosts.share
        ? brokenHosts.faults[hash32(seed, host, 0, SALT.faultKind) % brokenHosts.faults.length]
        : 'none';
    const slow = host > 0 && slowHosts.share > 0 && share(hash32(seed, host, 0, SALT.slowHost)) < slowHosts.share;
    const trap = traps > 0 && share(hash32(seed, host, 0, SALT.trapHost)) < traps;
    if (fault === 'none' && !slow && !trap) return everyHost;
    const { latencyMs, bytesPerSec } = slowHosts;
    return variant(`${fault} ${slow} ${trap}`, { fault, trap, ...(slow && { latencyMs, bytesPerSec }) });
  }

  return (host) => {
    if (!overrides.has(host)) return rolled(host);
    let own = single.get(host);
    if (!own) {
      own = planHost(`overrides.${host}`, overrides.get(host), rolled(host));
      single.set(host, own);
    }
    return own;
  };
}

// Each healthy host's home page leads to this many further hosts.
const HOST_BRANCHING = 10;

/** The hosts that a host's home page must link to, so that all are reachable from the first healthy one. */
export function createHostTree(plan: SimwebPlan, isHealthy: (host: number) => boolean): (host: number) => number[] {
  if (plan.crossHostLinks === 0 || plan.hosts === 1) return () => [];
  let rank: Int32Array | undefined;
  let healthy: number[] = [];
  let broken: number[] = [];
  const survey = (): Int32Array => {
    const ranks = new Int32Array(plan.hosts);
    healthy = [];
    broken = [];
    for (let host = 0; host < plan.hosts; host++) {
      if (isHealthy(host)) ranks[host] = healthy.push(host) - 1;
      else {
        ranks[host] = -1;
        broken.push(host);
      }
    }
    return ranks;
  };
  return (host) => {
    rank ??= survey();
    const at = rank[host] as number;
    if (at < 0) return [];
    const out = healthy.slice(at * HOST_BRANCHING + 1, (at + 1) * HOST_BRANCHING + 1);
    for (let i = at; i < broken.length; i += healthy.length) out.push(broken[i] as number);
    return out;
  };
}
