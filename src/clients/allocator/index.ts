/** Allocators of Service addresses as a library: the Interface of KEP-1880 in plain memory (docs/allocator.md). */
export type { AllocatedAddress, Allocator } from "./allocator";
export { type AllocatorError, allocatorErrorText } from "./allocator-error";
export { MetaAllocator } from "./meta-allocator";
export { RangeAllocator } from "./range-allocator";
