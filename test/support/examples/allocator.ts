import { AllocationMetrics, allocatorErrorText, allocatorFamilies, MetaAllocator, metricsText, WordRandom } from "servicenet/allocator";

const random = new WordRandom(() => crypto.getRandomValues(new Uint32Array(1))[0] ?? 0);
const allocator = new MetaAllocator("IPv4", { random, clock: { now: () => Date.now() } });
const metrics = new AllocationMetrics();
allocator.enableMetrics(metrics);

// One range of 14 addresses: too small for a static band.
allocator.setRanges([{ cidr: "10.0.0.0/28", ready: true }]);
const named = allocator.allocate("10.0.0.5");
console.log(named.ok ? `named: ${named.value.address}` : allocatorErrorText(named.error));
const again = allocator.allocate("10.0.0.5");
console.log(again.ok ? `named: ${again.value.address}` : allocatorErrorText(again.error));
while (allocator.allocateNext().ok);
console.log(`used ${allocator.used}, free ${allocator.free.dynamic}`);

// The cluster grows: the /24 has the /28 inside, so 240 addresses are new, 16 of the 254 are its static band, and nothing counts twice.
allocator.setRanges([
  { cidr: "10.0.0.0/28", ready: true },
  { cidr: "10.0.0.0/24", ready: true },
]);
console.log(`used ${allocator.used}, free ${allocator.free.dynamic} dynamic and ${allocator.free.static} static`);
const next = allocator.allocateNext();
console.log(next.ok ? `from the ${next.value.scope} band` : allocatorErrorText(next.error));

allocator.release("10.0.0.5");
console.log(`10.0.0.5 is ${allocator.has("10.0.0.5") ? "taken" : "free"}`);
const tried = allocator.dryRun().allocate("10.0.1.1");
console.log(tried.ok ? "fine" : allocatorErrorText(tried.error));
console.log(metricsText(allocatorFamilies(allocator.usage(), metrics.values())));
