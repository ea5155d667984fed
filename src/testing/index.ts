// The `orcrawl/testing` entry: the synthetic web and the test proxy, for users' own tests as for ours.
export { Simweb } from './simweb/simweb.js';
export { startSimwebProcess } from './simweb/process/process.js';
export type { SimwebProcess } from './simweb/process/process.js';
export { startProxy } from './proxy.js';
export type { ProxiedRequest, ProxyOptions, TestProxy } from './proxy.js';
export { HOST_FAULTS } from './simweb/knobs.js';
export type { HostFault, HostKnobs, Range, RateLimitKnobs, RobotsKnobs, SimwebOptions } from './simweb/knobs.js';
export type { Gaps, LogQueries, RequestFilter, SeenRequest } from './simweb/log.js';
export type { MappedUrl, PageKind } from './simweb/pages/map.js';
export type { ServedAnswer } from './simweb/respond.js';
export { SIMWEB_PATHS } from './simweb/pages/paths.js';
export type { SimwebUrls } from './simweb/pages/urls.js';
export { navigationSuite } from './navigation/navigation.js';
export type {
  NavigationEnd,
  NavigationExpectation,
  NavigationPlacement,
  NavigationRequest,
  NavigationSettings,
} from './navigation/navigation.js';
export type { TestRunner } from './conformance/conformance.js';
