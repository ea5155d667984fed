// A robots.txt that redirects to another domain must be fetched on that domain's turn, not on ours.
// A relay is a request in that domain's queue that only the gate sees: it fetches the rules and ends. If that domain
// belongs to another pod, which has no record of our hosts, the answer comes back as its own request.
import type { Lease } from '../../frontier/frontier.js';
import { MAX_RULES_BYTES } from '../../politeness/hosts.js';
import { type RobotsAnswer, robotsUrl } from '../../politeness/robots/cache.js';
import { RobotsTxt } from '../../politeness/robots/robots.js';
import { Request } from '../../request/request.js';

/** Under this name a relay carries the origin whose rules it fetches. */
const RELAY = 'orcrawl.robotsOf';
/** The key under which an answer carries the requested URL and its response. */
const ANSWER = 'orcrawl.robotsAnswer';
/** A domain that gives no turn for this long does not answer. */
export const RELAY_PATIENCE_MS = 300_000;
/** How often to check whether the relay is back. */
export const RELAY_POLL_MS = 1_000;

export interface RobotsRelay {
  /** The origin it was sent for. */
  readonly sender: string;
  /** On its way back: the requested URL and its response. */
  readonly reply?: { readonly url: string; readonly answer: RobotsAnswer };
}

export function createRobotsRelay(url: string, origin: string, nowMs: number): Request {
  return new Request({
    url,
    // Not the page's key: a crawl may want that URL as a page, too, and a later relay must not count as seen.
    uniqueKey: `robots.txt of ${origin} at ${nowMs}: ${url}`,
    userData: { [RELAY]: origin },
    priority: 2,
  });
}

/** An answer on its way to the queue of the domain that sent for it; of the rules, those for our agent. */
export function createReply(url: string, origin: string, answer: RobotsAnswer, agent: string, nowMs: number): Request {
  return new Request({
    url: robotsUrl(origin),
    uniqueKey: `answer for robots.txt of ${origin} at ${nowMs}: ${url}`,
    userData: { [RELAY]: origin, [ANSWER]: { url, ...packAnswer(answer, agent) } },
    priority: 2,
  });
}

/** What a relay is about; undefined for any other request. */
export function robotsRelayOf(lease: Lease): RobotsRelay | undefined {
  if (!lease.record.includes(RELAY)) return undefined;
  const { [RELAY]: sender, [ANSWER]: packed } = Request.fromRecord(lease.record).userData as Record<string, unknown>;
  if (typeof sender !== 'string') return undefined;
  if (typeof packed !== 'object' || packed === null) return { sender };
  const { url, ...answer } = packed as PackedAnswer & { url: string };
  return { sender, reply: { url, answer: unpackAnswer(answer) } };
}

type Received = Extract<RobotsAnswer, { kind: 'answer' }>;
/** As JSON: rules as text. */
type PackedAnswer = Exclude<RobotsAnswer, Received> | (Omit<Received, 'body'> & { readonly rules: string });

function packAnswer(answer: RobotsAnswer, agent: string): PackedAnswer {
  if (answer.kind !== 'answer') return answer;
  const { body, ...rest } = answer;
  const isFile = rest.statusCode >= 200 && rest.statusCode < 300;
  return { ...rest, rules: isFile ? RobotsTxt.parse(body).packFor(agent, MAX_RULES_BYTES) : '' };
}

function unpackAnswer(packed: PackedAnswer): RobotsAnswer {
  if (packed.kind !== 'answer') return packed;
  const { rules, ...rest } = packed;
  return { ...rest, body: Buffer.from(rules) };
}
