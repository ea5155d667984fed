// Histories in which a backend once differed from the model, as they were left after shrinking. Each failed on the code
// of its day; what it found is its name. A new one is pasted from what a failing run printed.
import { describe, it } from 'vitest';
import { playHistory } from '../../src/testing/model/run.js';
import type { Setting, Step, StepKind } from '../../src/testing/model/steps.js';
import { MODEL_BACKENDS, type ModelBackendName } from '../support/model-worlds.js';
import { redisMissing } from '../support/redis-server.js';

interface Kept {
  readonly found: string;
  readonly backend: ModelBackendName;
  readonly setting: Partial<Setting>;
  readonly steps: readonly (readonly [kind: StepKind, a: number, b: number, c: number])[];
}

const COMMON: Setting = {
  ...{ pacing: { delayMs: 0, turns: 10 }, leaseMs: 10_000, domains: 6, holders: 1, openings: 1, head: 0 },
  ...{ seen: 'exact', budget: 0, pods: 1, maxUrls: 405 },
};

const KEPT: readonly Kept[] = [
  {
    found: 'a server that forgot a beginning soon after another gave the same lease ids again (seed 20034)',
    backend: 'redis-tails',
    setting: {
      ...{ pacing: { delayMs: 0, turns: 3 }, domains: 4, openings: 2, seen: 'requests', maxUrls: 400 },
    },
    steps: [
      ['restart', 0, 0, 0],
      ['mark', 0, 0, 0],
      ['restart', 0, 0, 0],
      ['add', 0, 0, 0],
      ['advance', 0, 0, 0],
      ['lease', 0, 25, 0],
      ['loseTail', 0, 367, 0],
    ],
  },
  {
    found: 'a server that forgot its last two beginnings was believed to have forgotten nothing (seed 46)',
    backend: 'redis-tails',
    setting: {
      ...{ pacing: { delayMs: 1_000, turns: 10 }, domains: 2, holders: 3, openings: 2, head: 0, maxUrls: 400 },
    },
    steps: [
      ['mark', 0, 0, 0],
      ['restart', 0, 0, 0],
      ['restart', 0, 0, 0],
      ['add', 0, 0, 699_012],
      ['loseTail', 441_011, 541_396, 963_483],
    ],
  },
  {
    found: 'a judge that came back under its name was judge again in one backend, and in another not (seed 3164)',
    backend: 'lmdb-shared',
    setting: {
      ...{ pacing: { delayMs: 0, turns: 1 }, domains: 4, holders: 4, openings: 3, seen: 'requests', maxUrls: 400 },
    },
    steps: [
      ['add', 0, 216_157, 0],
      ['lease', 0, 9, 0],
      ['add', 0, 0, 777_259],
      ['lease', 419_017, 7_842, 0],
      ['release', 248_613, 0, 0],
      ['lease', 0, 1, 0],
      ['settle', 0, 0, 592_212],
      ['advance', 0, 0, 0],
      ['lease', 0, 49_081, 503_759],
      ['lease', 260_678, 832_719, 312_492],
      ['settle', 759_930, 654_523, 288_083],
      ['lease', 481_361, 208_070, 823_113],
      ['advance', 57_177, 880_696, 44_572],
    ],
  },
  {
    found: 'a process that a server had forgotten was not found dead at once (seed 8)',
    backend: 'redis-tails',
    setting: { holders: 2, head: 20, seen: 'requests', maxUrls: 500 },
    steps: [
      ['mark', 0, 0, 0],
      ['reopen', 0, 0, 0],
      ['loseTail', 490_182, 189_317, 348_821],
      ['add', 196_302, 836_088, 2_638],
      ['advance', 460_552, 15_218, 336_198],
      ['lease', 530_898, 557_727, 943_749],
      ['reopen', 286_395, 708_816, 462_025],
    ],
  },
  {
    found: 'pod time that lagged leapt ahead when the clock was set back again (seed 31)',
    backend: 'redis',
    setting: {
      ...{ pacing: { delayMs: 100, turns: 2 }, domains: 4, holders: 1, openings: 3, seen: 'requests', maxUrls: 400 },
    },
    steps: [
      ['advance', 0, 0, 0],
      ['wall', 0, 139_991, 0],
      ['add', 0, 174_830, 0],
      ['lease', 0, 682, 0],
      ['settle', 0, 0, 474_656],
      ['wall', 0, 0, 0],
    ],
  },
  {
    found: 'D1: a domain that spills again read the rows of its last time (seed 12, 0.1.0)',
    backend: 'redis-spill',
    setting: { openings: 2, head: 1 },
    steps: [
      ['add', 0, 73_290, 0],
      ['lease', 0, 53_929, 0],
      ['keep', 0, 0, 0],
      ['add', 0, 527_135, 0],
    ],
  },
  {
    found: 'D1 with a larger head and links (seed 10, 0.1.0)',
    backend: 'redis-spill',
    setting: { pacing: { delayMs: 100, turns: 10 }, domains: 5, head: 3, budget: 200, maxUrls: 415 },
    steps: [
      ['add', 0, 0, 776_771],
      ['lease', 0, 4_665, 0],
      ['settle', 0, 76_507, 713_913],
      ['add', 750_163, 811_371, 259_110],
      ['add', 95_143, 110_470, 702_320],
      ['lease', 519_174, 94_431, 267_738],
      ['keep', 548_430, 372_965, 485_965],
      ['add', 519_083, 729_730, 887_817],
      ['settle', 793_752, 174_520, 600_820],
    ],
  },
  {
    found: 'the keeper removed rows from disk whose return the server had forgotten (seed 12)',
    backend: 'redis-spill',
    setting: { openings: 2, head: 1 },
    steps: [
      ['add', 570_193, 662_817, 527_033],
      ['lease', 183_098, 570_107, 384_974],
      ['keep', 31_155, 612_120, 747_957],
      ['mark', 213_123, 924_151, 215_239],
      ['lease', 88_981, 595_487, 316_965],
      ['release', 595_654, 665_463, 301_232],
      ['keep', 908_895, 307_129, 370_240],
      ['loseTail', 439_474, 220_447, 240_985],
      ['allow', 679_930, 946_567, 451_391],
      ['lease', 869_549, 787_631, 712_690],
      ['land', 503_520, 642_500, 487_620],
    ],
  },
  {
    found: 'a server that forgot its last beginning, with every process gone, numbered rows as it had before',
    backend: 'redis-spill',
    setting: { domains: 2, head: 1 },
    steps: [
      ['wave', 0, 1, 0],
      ['mark', 0, 0, 0],
      ['restart', 0, 0, 0],
      ['wave', 0, 19, 0],
      ['keep', 0, 0, 0],
      ['loseTail', 0, 0, 0],
      ['wave', 0, 1, 0],
      ['wave', 0, 19, 1],
      ['wave', 0, 9, 0],
      ['keep', 0, 0, 0],
    ],
  },
  {
    found: 'of two beginnings within minutes, a server that forgot the last numbered rows as it had before (seed 1)',
    backend: 'redis-spill',
    setting: { domains: 2, head: 1 },
    steps: [
      ['restart', 0, 0, 0],
      ['wave', 0, 1, 0],
      ['mark', 0, 0, 0],
      ['restart', 0, 0, 0],
      ['wave', 0, 19, 0],
      ['keep', 0, 0, 0],
      ['loseTail', 0, 0, 0],
      ['wave', 0, 1, 0],
      ['wave', 0, 19, 1],
      ['wave', 0, 9, 0],
      ['keep', 0, 0, 0],
    ],
  },
  {
    found: 'a process that only pulled captures kept their leases when it closed the store',
    backend: 'redis',
    setting: { domains: 1, holders: 2 },
    steps: [
      ['add', 0, 67, 1_833],
      ['lease', 0, 3, 0],
      ['settle', 0, 1_787, 1_821],
      ['pull', 1, 5, 0],
      ['reopen', 0, 0, 4],
    ],
  },
  {
    found: 'find told the record from before an untouched settlement replaced it (seed 1005)',
    backend: 'redis-spill',
    setting: { pacing: { delayMs: 1_000, turns: 2 }, domains: 1, holders: 2, head: 1, seen: 'requests', budget: 1 },
    steps: [
      ['add', 0, 0, 0],
      ['lease', 0, 1_361, 0],
      ['settle', 0, 856_097, 79_734],
      ['find', 0, 0, 0],
    ],
  },
  {
    found: 'a request retried to the end of its line came back untouched to where it was first (seed 10)',
    backend: 'memory',
    setting: { pacing: { delayMs: 100, turns: 10 }, domains: 5, seen: 'requests', maxUrls: 400 },
    steps: [
      ['add', 0, 142_427, 606_823],
      ['lease', 0, 58_532, 0],
      ['settle', 0, 826_821, 459_078],
      ['advance', 0, 0, 0],
      ['lease', 0, 46_811, 203_381],
      ['release', 0, 0, 0],
    ],
  },
  {
    found: 'the model took a forgotten request for one in front, its process had added it in line since (seed 739)',
    backend: 'redis',
    setting: { pacing: { delayMs: 300, turns: 10 }, domains: 2, seen: 'requests', budget: 20, maxUrls: 400 },
    steps: [
      ['mark', 417_226, 607_273, 102_759],
      ['add', 597_874, 671_475, 536_469],
      ['add', 316_745, 153_848, 746_782],
      ['add', 909_450, 844_065, 983_221],
      ['reopen', 128_348, 954_419, 556_973],
      ['add', 311_943, 886_616, 431_309],
      ['add', 634_862, 95_486, 287_809],
      ['loseTail', 678_940, 690_260, 4_583],
      ['add', 191_910, 981_004, 926_705],
    ],
  },
  {
    found: 'the model took holders that fell silent and those that died with their pod for two losses (seed 1882)',
    backend: 'embedded-pods',
    setting: { pacing: { delayMs: 0, turns: 2 }, domains: 12, holders: 9, seen: 'requests', pods: 3, maxUrls: 400 },
    steps: [
      ['add', 138_631, 0, 0],
      ['lease', 464_914, 780_137, 84_404],
      ['add', 444_919, 852_119, 541_617],
      ['lease', 439_315, 584_426, 82_458],
      ['advance', 12_563, 476_280, 321_776],
      ['takeIn', 223_840, 937_710, 715_235],
    ],
  },
  {
    found: 'the model knew in which order links of several pods arrive: one URL, two priorities (seed 75)',
    backend: 'redis-pods',
    setting: { pacing: { delayMs: 0, turns: 2 }, domains: 10, holders: 6, openings: 2, pods: 2, maxUrls: 400 },
    steps: [
      ['away', 273_804, 615_261, 453_032],
      ['add', 859_763, 321_688, 306_251],
      ['away', 754_720, 443_473, 65_149],
      ['away', 347_436, 741_109, 316_591],
      ['lease', 96_687, 817_283, 144_411],
      ['settle', 137_019, 87_196, 425_799],
      ['lease', 639_815, 20_997, 931_946],
      ['settle', 58_865, 296_207, 766_722],
    ],
  },
  {
    found: 'links of another pod found out who had fallen silent, and the model did not (seed 1927)',
    backend: 'redis-pods',
    setting: { pacing: { delayMs: 100, turns: 3 }, holders: 8, openings: 2, head: 50, pods: 2, maxUrls: 650 },
    steps: [
      ['add', 0, 0, 0],
      ['lease', 551_764, 40_305, 0],
      ['add', 185_349, 0, 0],
      ['advance', 0, 524_671, 0],
      ['lease', 403_053, 270_434, 436_401],
      ['advance', 153_433, 848_828, 433_540],
      ['advance', 314_270, 661_749, 974_216],
      ['advance', 948_924, 266_977, 235_007],
      ['settle', 126_493, 111_079, 295_920],
      ['advance', 182_528, 422_368, 749_185],
    ],
  },
];

describe('histories that once failed', () => {
  for (const { found, backend, setting, steps } of KEPT) {
    const isMissing = backend.startsWith('redis') && redisMissing !== undefined;
    it.skipIf(isMissing)(`${found}, on ${backend}${isMissing ? `: skipped, ${redisMissing}` : ''}`, async () => {
      const { make, dispose } = await MODEL_BACKENDS[backend].open();
      try {
        const list = steps.map(([kind, a, b, c]): Step => ({ kind, a, b, c }));
        await playHistory({ setting: { ...COMMON, ...setting }, steps: list }, make);
      } finally {
        await dispose();
      }
    });
  }
});
