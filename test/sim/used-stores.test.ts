/** The first write of a store: whoever looks for stores with objects knows the store before it. */
import { expect, it } from "vitest";
import type { WriteRequest, WriteResult } from "../../src/api/rpc/store";
import { SimApi } from "../support/sim/api";
import { NO_FAULTS } from "../support/sim/platform/network";

const LEASES = "leases.coordination.k8s.io";
const ALWAYS = ["namespaces", "services", "servicecidrs.networking.k8s.io", "ipaddresses.networking.k8s.io"];

function lease(dryRun: boolean): WriteRequest {
  const options = {
    dryRun,
    fieldManager: "test",
    fieldValidation: "Strict",
    force: false,
    group: "coordination.k8s.io",
    version: "v1",
  } as const;
  return { verb: "create", namespace: "default", object: '{"metadata":{"name":"a","namespace":"default"},"spec":{}}', options };
}

it("a store before its first write: asks the list, is refused while that does not answer, and may be read and tried meanwhile", async () => {
  const api = await new SimApi().ready();
  const { network, plain, controllerNodes } = api.cluster;
  const entered = async (): Promise<readonly string[] | null> => (await controllerNodes.repair.brain.entered?.()) ?? null;
  const write = (request: WriteRequest): Promise<WriteResult> => api.run(plain.leases.brain.write(request));
  const stores = async (): Promise<string[]> => ((await entered()) ?? []).filter((name) => !name.startsWith("controllers/"));
  expect(await stores()).toEqual(ALWAYS);
  expect(await write(lease(true))).toMatchObject({ ok: true });
  expect(await stores(), "after a dry run").toEqual(ALWAYS);
  network.faults = { ...NO_FAULTS, lost: 1 };
  expect(await write(lease(false))).toMatchObject({ ok: false, status: { code: 503, details: { retryAfterSeconds: 1 } } });
  expect(await stores()).toEqual(ALWAYS);
  network.faults = NO_FAULTS;
  const { brain } = controllerNodes.repair;
  brain.askVisits = () => Promise.reject(new Error("down"));
  // Until its own next attempt is half a minute away. A client comes again when it was told to.
  for (let tried = 0; tried < 4; tried++) {
    await api.cluster.scheduler.pass(20_000);
    expect(await write(lease(false))).toMatchObject({ ok: false, status: { code: 503 } });
  }
  Reflect.deleteProperty(brain, "askVisits");
  await api.cluster.scheduler.pass(1_000);
  expect(await write(lease(false))).toMatchObject({ ok: true });
  expect(await stores()).toEqual([...ALWAYS, LEASES]);
  // Its next lives are known.
  plain.leases.crash();
  network.faults = { ...NO_FAULTS, lost: 1 };
  expect(await api.run(plain.leases.brain.get({ namespace: "default", name: "a" }, ""))).toMatchObject({ ok: true });
});

/** Who dies, so many milliseconds behind the beginning of a first write. */
async function deathAt(ms: number, who: readonly ("store" | "repair")[]): Promise<{ isKnown: boolean; isStored: boolean }> {
  const api = await new SimApi().ready();
  const { plain, controllerNodes, scheduler } = api.cluster;
  const answer = plain.leases.brain.write(lease(false)).catch(() => undefined);
  await scheduler.pass(ms);
  if (who.includes("store")) plain.leases.crash();
  if (who.includes("repair")) controllerNodes.repair.crash();
  const known = (await controllerNodes.repair.brain.entered?.()) ?? [];
  const isStored = (await api.run(plain.leases.brain.get({ namespace: "default", name: "a" }, ""))).ok;
  void answer;
  return { isKnown: known.includes(LEASES), isStored };
}

it("deaths at each moment of a first write: what is stored is in a store that is known", async () => {
  const met = new Set<string>();
  for (const who of [["store"], ["repair"], ["store", "repair"]] as const)
    for (let ms = 0; ms < 40; ms++) {
      const { isKnown, isStored } = await deathAt(ms, who);
      met.add(`${isKnown ? "known" : "unknown"}, ${isStored ? "stored" : "empty"}`);
    }
  expect([...met].sort()).toEqual(["known, empty", "known, stored", "unknown, empty"]);
});
