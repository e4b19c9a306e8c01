/** The agent dies at every write in turn, before it is sent and before its answer comes, and is started again. */
import { describe, expect, it } from "vitest";
import { MachineWorld, NODE } from "../../../../support/worlds/machine-world";

const SECOND = 1_000;
const BEFORE = `
- {name: same, port: 1}
- {name: moved, port: 2, drainSeconds: 2}
- {name: labelled, port: 3}
- {name: dropped, port: 4, drainSeconds: 2}
- {name: deleted, port: 5, drainSeconds: 2}
`;
const AFTER = `
- {name: same, port: 1}
- {name: moved, port: 20, drainSeconds: 2}
- {name: labelled, port: 3, labels: {app: web}}
- {name: deleted, port: 5, drainSeconds: 2}
- {name: new, port: 6, check: {tcp: }}
`;
const SETTLED = ["foreign: Failed", "labelled.n1:3 ready", "moved.n1:20 ready", "new.n1:6 ready", "same.n1:1 ready"];

/** Writes until all is settled, and what there is then; the agent dies at the write with this number. */
async function lived(at: number, what: "request" | "answer"): Promise<{ writes: number; left: string[] }> {
  const world = new MachineWorld();
  world.healthy.add(6);
  world.text = BEFORE;
  await world.start();
  await world.pass(5 * SECOND);
  world.crash();
  world.text = AFTER;
  await world.userDeletes("deleted.n1");
  await world.userMakes({
    metadata: { name: "foreign", namespace: "default" },
    spec: { nodeName: NODE, containers: [{ name: "c", image: "i" }] },
  });
  world.writes.length = 0;
  let sent = 0;
  world.diesAt = (moment) => moment === what && ++sent === at;
  await world.start();
  await world.pass(20 * SECOND);
  if (world.agent?.isDead) {
    await world.start();
    await world.pass(30 * SECOND);
  }
  return { writes: world.writes.length, left: world.brief };
}

describe("agent that dies", () => {
  it.each(["request", "answer"] as const)("at the %s of any write: is settled after its next start", async (what) => {
    const { writes, left } = await lived(0, what);
    expect(left).toEqual(SETTLED);
    expect(writes).toBeGreaterThan(10);
    for (let at = 1; at <= writes; at++) expect([at, (await lived(at, what)).left]).toEqual([at, SETTLED]);
  });
});
