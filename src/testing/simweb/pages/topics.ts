// What the pages of a web with topics are about: each page has one, and mostly that of the page that leads to it.
// Promise: words of a topic stand on its pages, in most links to them, and nowhere else.
import { createRolls, hash32, SALT, share } from './chance.js';
import type { SimwebPlan } from '../knobs.js';

/** Words of each topic; none of them is in the ordinary vocabulary. */
export const TOPICS: readonly (readonly [string, string, string])[] = [
  ['espresso', 'grinder', 'barista'],
  ['telescope', 'nebula', 'eyepiece'],
  ['beehive', 'pollen', 'apiary'],
  ['violin', 'luthier', 'varnish'],
  ['sourdough', 'starter', 'crumb'],
  ['glacier', 'moraine', 'crevasse'],
  ['chess', 'gambit', 'endgame'],
  ['orchid', 'repotting', 'humidity'],
  ['tractor', 'plough', 'harvester'],
  ['falcon', 'plumage', 'nesting'],
  ['pottery', 'kiln', 'glaze'],
  ['bicycle', 'derailleur', 'spokes'],
  ['volcano', 'magma', 'caldera'],
  ['turbine', 'rotor', 'megawatt'],
  ['cheese', 'rennet', 'curd'],
  ['dinosaur', 'fossil', 'cretaceous'],
];

export interface Topics {
  /** The topic of a page, the same on every host. */
  of(page: number): number;
  /** A page of the same topic, or any other. */
  near(page: number, roll: () => number): number;
  /** What a link to a page says; undefined when it says nothing of it. */
  anchor(page: number, roll: () => number): string | undefined;
  /** Sentences that only a page of this topic has; a name in each is the page's own. */
  sentences(host: number, page: number): string[];
}

/** A page keeps the topic of its parent. */
const INHERITS = 0.75;
/** An extra link leads to a page of the same topic. */
const STAYS = 0.5;
/** A link names the topic of what it leads to. */
const NAMES = 0.6;
/** And sometimes it names another. */
const MISLEADS = 0.05;
const SENTENCES = 8;
const NEAR_TRIES = 24;

export function createTopics({ seed, topics: count, pagesPerHost, branching }: SimwebPlan): Topics | undefined {
  if (count === 0) return undefined;

  function topicOf(page: number): number {
    let at = page;
    while (at > 0 && share(hash32(seed, at, 1, SALT.topic)) < INHERITS) at = Math.floor((at - 1) / branching);
    return hash32(seed, at, 2, SALT.topic) % count;
  }

  const word = (topic: number, roll: number): string => TOPICS[topic]![roll % 3]!;

  return {
    of: topicOf,
    near(page, roll) {
      let target = roll() % pagesPerHost;
      if (share(roll()) >= STAYS) return target;
      const topic = topicOf(page);
      for (let tries = NEAR_TRIES; tries > 0 && topicOf(target) !== topic; tries--) target = roll() % pagesPerHost;
      return target;
    },
    anchor(page, roll) {
      const chance = share(roll());
      if (chance < MISLEADS) return `${word(roll() % count, roll())} and the like`;
      return chance < MISLEADS + NAMES ? `about ${word(topicOf(page), roll())}` : undefined;
    },
    sentences(host, page) {
      const topic = topicOf(page);
      const roll = createRolls(hash32(seed, host, page, SALT.topic));
      return Array.from({ length: SENTENCES }, () => {
        const name = `n${roll().toString(36)}`;
        return `The ${word(topic, roll())} of ${name} was kept with a ${word(topic, roll())}.`;
      });
    },
  };
}
