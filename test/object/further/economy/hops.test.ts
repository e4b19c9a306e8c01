/** How many calls of objects an answer waits for, one behind the other (test/support/economy/bounds.ts). */
import { afterEach, beforeEach, expect, it } from "vitest";
import { HOPS } from "../../../support/economy/bounds";
import { countedCalls } from "../../../support/objects/counted-calls";
import { countedHops } from "../../../support/economy/hops";
import { PATHS, service } from "../../../support/economy/requests";
import { EconomyWorld, SLOW_MACHINE_MS } from "../../../support/economy/world";

/** On a busy machine a call may be held for a unit of time too long, never too short. */
const ATTEMPTS = 3;

let world: EconomyWorld;
beforeEach(async () => (world = await new EconomyWorld().begin()));
afterEach(() => world.end());

/** The shortest of several measurements, within its bound as soon as one is. */
async function expectWithinBound(what: keyof typeof HOPS, work: (attempt: number) => Promise<unknown>, before: () => Promise<unknown>) {
  let rounds: string[][] = [];
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    await before();
    rounds = await countedHops(() => work(attempt));
    if (rounds.length <= HOPS[what]) break;
  }
  const told = rounds.map((called, index) => `${String(index + 1)}. ${called.join(", ")}`).join("\n");
  console.log(`${what}: ${String(rounds.length)} ≤ ${String(HOPS[what])}\n${told}`);
  expect(rounds.length, told).toBeLessThanOrEqual(HOPS[what]);
  // A meter that sees no calls holds nothing.
  expect(rounds.length).toBeGreaterThan(0);
}

it(
  "calls that begin side by side are one hop, those behind one another are several",
  async () => {
    const get = () => world.send("GET", `${PATHS.services}/kubernetes`);
    await get();
    await world.settle();
    expect(await countedHops(() => Promise.all([get(), get(), get()]))).toHaveLength(1);
    expect(await countedHops(async () => [await get(), await get()])).toHaveLength(2);
    expect(await countedHops(() => Promise.resolve())).toEqual([]);
  },
  SLOW_MACHINE_MS,
);

it(
  "creates that are refused: an isolate that has not met the cluster asks its services store once, whatever comes later",
  async () => {
    const token = await world.tokenOf("eve");
    // The default roles are made for the first question, and their controllers woken.
    await expect(world.send("GET", PATHS.services, undefined, { token })).rejects.toThrow("403");
    const isolate = await world.asleep();
    const create = async () => {
      const calls = await countedCalls(() => expect(isolate.send("POST", PATHS.services, service("a"), { token })).rejects.toThrow("403"));
      return calls
        .filter(({ method }) => ["ensureBootstrapped", "write"].includes(method))
        .map(({ object, method }) => `${object} ${method}`);
    };
    expect([await create(), await create()]).toEqual([[`${world.cluster}/services ensureBootstrapped`], []]);
  },
  SLOW_MACHINE_MS,
);

it(
  "requests of a user, warm and with everything asleep: wait for no more calls than their bounds",
  async () => {
    const token = await world.tokenToServices("get", "create");
    let isolate = await world.asleep();
    const get = () => isolate.send("GET", `${PATHS.services}/kubernetes`, undefined, { token });
    const create = (name: string) => isolate.send("POST", PATHS.services, service(name), { token });
    // Rules that have changed are compiled once, and kept.
    await get();
    await create("first");
    const sleep = async (): Promise<void> => void (isolate = await world.asleep());
    await expectWithinBound("get by a user: everything asleep", get, sleep);
    await expectWithinBound("create by a user: everything asleep", (attempt) => create(`asleep-${String(attempt)}`), sleep);
    await world.settle();
    world.stopTime();
    await create("again");
    await get();
    await expectWithinBound("get by a user: warm", get, () => world.settle());
    await expectWithinBound(
      "create by a user: warm",
      (attempt) => create(`warm-${String(attempt)}`),
      () => world.settle(),
    );
  },
  SLOW_MACHINE_MS,
);
