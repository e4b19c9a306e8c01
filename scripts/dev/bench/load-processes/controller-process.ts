/**
 * The controllers of endpoints alone, on stores in memory and in virtual time: the heap that they hold, and the CPU that one changed Pod costs. Reads a
 * ControllerLoad from stdin and prints a ControllerResult. Needs --expose-gc.
 */
import { EndpointWorld } from "../../../../test/support/worlds/endpoint-world";
import { aNode, aPod, aService, ipv4 } from "../../../../test/support/worlds/slice-world";
import { givenLoad } from "./load";

export interface ControllerLoad {
  pods: number;
  changes: number;
}

export interface ControllerResult {
  /** what the controllers hold after their first sync, and after they have begun anew on their rows */
  heapMiB: number[];
  /** of this process for one change: the write of the Pod, the passes of the controllers, and their writes */
  changeMs: number[];
}

const MINUTE_MS = 60_000;
const MINUTES_MAX = 60;
/** Its creation and its status. */
const HISTORY_OF_POD = 2;
const HISTORY_BESIDE = 10_000;
const { pods, changes } = givenLoad<ControllerLoad>();

/** Twice: what a first collection frees may hold more. */
function heapUsed(): number {
  globalThis.gc?.();
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

/** What is free once the controllers are gone. Their stores and rows stay: on the platform these are on disk, or other objects. */
function heldMiB(world: EndpointWorld): number {
  const before = heapUsed();
  world.sleep();
  return (before - heapUsed()) / 2 ** 20;
}

const podOf = (i: number, isReady: boolean) => aPod({ name: `pod-${String(i)}`, ips: [ipv4(256 + i)], ready: isReady });

// The controllers follow while the Pods come: none of their changes may be forgotten before.
const world = new EndpointWorld({ controllers: ["slices", "endpoints", "mirror"], historyEntries: HISTORY_OF_POD * pods + HISTORY_BESIDE });
await world.putNode(aNode("n1", "zone-a"));
for (let i = 0; i < pods; i++) await world.putPod(podOf(i, true));
await world.putService(aService());
for (let minute = 0; minute < MINUTES_MAX && world.addresses.length !== pods; minute++) await world.settle(MINUTE_MS);
if (world.addresses.length !== pods) throw new Error(`${String(world.addresses.length)} of ${String(pods)} Pods are in slices`);

// The histories of stores in memory are searched from their beginning, which would count as the controllers' work.
for (const { storage, store } of Object.values(world.stores)) storage.historyTrim(0, store.revision);
const changeMs: number[] = [];
for (let change = 0; change < changes; change++) {
  const { user, system } = process.cpuUsage();
  await world.putPod(podOf(Math.floor((change * pods) / changes), false));
  await world.settle();
  const after = process.cpuUsage();
  changeMs.push((after.user - user + after.system - system) / 1_000);
}

const heapMiB = [heldMiB(world)];
world.wake();
await world.settle(MINUTE_MS);
heapMiB.push(heldMiB(world));
process.stdout.write(JSON.stringify({ heapMiB, changeMs } satisfies ControllerResult));
