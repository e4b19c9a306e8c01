/** Allocators of Service addresses as a library: the Interface of KEP-1880 in plain memory (docs/allocator.md). */
export { AllocationMetrics } from "../../addresses/metrics/allocation-metrics";
export { allocatorFamilies } from "../../addresses/metrics/allocator-families";
export { WordRandom } from "../../core/base/word-random";
export { metricsText } from "../../core/telemetry/metrics";
export type { AllocatedAddress, Allocator } from "./allocator";
export { type AllocatorError, allocatorErrorText } from "./allocator-error";
export { MetaAllocator } from "./meta-allocator";
export { RangeAllocator } from "./range-allocator";
