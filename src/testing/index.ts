// The `orcrawl/testing` entry: the synthetic web, the test proxy and the suites that backends and placements pass.
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
export { frontierSuite } from './conformance/conformance.js';
export type { Backend, BackendOptions, BackendTraits, MakeBackend, TestRunner } from './conformance/conformance.js';
export { storageSuite } from './conformance/storage.js';
export type { StorageTraits, StorageUnderTest } from './conformance/storage.js';
