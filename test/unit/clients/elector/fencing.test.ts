import { describe, expect, it } from "vitest";
import type { ConfigMap } from "../../../../src/api/meta/kubernetes";
import { writtenOwn } from "../../../../src/api/meta/own-annotation";
import { changeFenced, fenced, FENCING_TOKEN, isLaterToken } from "../../../../src/clients/elector/fencing";
import { WRITE } from "../../../support/worlds/store-world";
import { SimProcess } from "../../../support/worlds/api-world";
import { ElectionWorld } from "../../../support/worlds/election-world";

const PATH = "/api/v1/namespaces/ns/configmaps/work";

it.each([
  ["10", "9", true],
  ["9", "10", false],
  ["9", "9", false],
  ["340282366920938463463374607431768211455", "340282366920938463463374607431768211454", true],
])("token %s, later than %s: %s", (token, than, want) => {
  expect(isLaterToken(token, than)).toBe(want);
});

describe("fenced", () => {
  const object = (token?: string): ConfigMap => ({
    metadata: { name: "a", annotations: { x: "y", ...(token ? writtenOwn(FENCING_TOKEN, token) : {}) } },
  });

  it("an object of nobody, of an earlier leader or of this one: gets the token", () => {
    for (const before of [undefined, "8", "9"]) expect(fenced(object(before), "9")).toEqual({ ok: true, value: object("9") });
    expect(fenced({}, "9")).toEqual({
      ok: true,
      value: { metadata: { annotations: { "servicenet.dev/fencing-token": "9", "servicenet.io/fencing-token": "9" } } },
    });
  });

  it("an object of a later leader: refused", () => {
    expect(fenced(object("10"), "9")).toEqual({ ok: false, error: { reason: "fenced", by: "10" } });
    // Electors of the release before write the earlier spelling alone, and those of the next one the other.
    for (const domain of ["servicenet.dev", "servicenet.io"]) {
      const { metadata } = object("8");
      const later = { metadata: { ...metadata, annotations: { ...metadata?.annotations, [`${domain}/fencing-token`]: "10" } } };
      expect(fenced(later, "9"), domain).toEqual({ ok: false, error: { reason: "fenced", by: "10" } });
    }
  });
});

describe("changeFenced", () => {
  async function begun(data: Record<string, string> | undefined) {
    const world = new ElectionWorld();
    const object = { metadata: { name: "work", namespace: "ns" }, data };
    if (data) expect(await world.configMaps.create(object, { ...WRITE, group: "" })).toMatchObject({ ok: true });
    const process = new SimProcess(world);
    const change = (token: string, isValid: () => boolean = () => true) =>
      changeFenced<ConfigMap>({
        send: process.send,
        clock: process.clock,
        term: {
          token,
          get isValid() {
            return isValid();
          },
        },
        path: PATH,
        change: (stored) => ({ ...stored, data: { by: token } }),
      });
    const stored = () => world.configMaps.stored<ConfigMap>("work");
    return { world, change, stored };
  }

  it("an earlier token after a later one: changes nothing", async () => {
    const { world, change, stored } = await begun({});
    expect(await world.scheduler.run(change("20"))).toMatchObject({ ok: true, value: { data: { by: "20" } } });
    expect(await world.scheduler.run(change("9"))).toEqual({ ok: false, error: { reason: "fenced", by: "20" } });
    expect(stored()?.data).toEqual({ by: "20" });
  });

  it("a later leader between read and write: the write is refused, then the token", async () => {
    const { world, change, stored } = await begun({});
    const [early, late] = await world.scheduler.run(Promise.all([change("9"), change("20")]));
    expect([early.ok, late.ok]).toContain(true);
    expect(late).toMatchObject({ ok: true });
    expect(stored()?.data).toEqual({ by: "20" });
  });

  it("an object that does not exist, or a term that is over: the refusal says which", async () => {
    const none = await begun(undefined);
    expect(await none.world.scheduler.run(none.change("9"))).toEqual({ ok: false, error: { reason: "missing" } });
    const over = await begun({});
    expect(await over.world.scheduler.run(over.change("9", () => false))).toEqual({ ok: false, error: { reason: "ended" } });
    expect(over.world.asked).toEqual([]);
  });
});
