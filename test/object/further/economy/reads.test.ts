/** What reads cost, with everything that they cause (test/support/economy/bounds.ts). */
import { afterEach, beforeEach, it } from "vitest";
import { EconomyWorld, SLOW_MACHINE_MS } from "../../../support/economy/world";

const SERVICE = "/api/v1/namespaces/default/services/kubernetes";
const NODES = "/api/v1/nodes";
const HEALTH = "/nodes/n1/healthz";
/** Rules of this age are renewed before they decide. */
const OLD_MS = 4_500;

let world: EconomyWorld;
beforeEach(async () => (world = await new EconomyWorld().begin()));
afterEach(() => world.end());

it(
  "GET by a user with a role, with rules of any age: no more than its bounds",
  async () => {
    const { economy } = world;
    const token = await world.tokenToServices("get");
    // The isolate that has written the rules is not the one that decides.
    let isolate = await world.asleep();
    const get = () => isolate.send("GET", SERVICE, undefined, { token });
    // Rules that have changed are compiled once, and kept.
    await get();
    const before = async (): Promise<void> => void (isolate = await world.sleep());
    await economy.measure("get by a user with a role: everything asleep", get, { before });
    const setTime = world.stopTime();
    await get();
    await economy.measure("get by a user with a role: warm", get);
    setTime(OLD_MS);
    await economy.measure("get by a user with a role: rules older than 4 s", get);
    economy.expectWithinBounds();
  },
  SLOW_MACHINE_MS,
);

it(
  "health check of a node: no more than its bounds",
  async () => {
    const { economy } = world;
    await world.send("POST", NODES, { metadata: { name: "n1" } });
    await world.send("PUT", `${NODES}/n1/proxy-health`, { IPv4: { appliedAgoMs: 0 } });
    let isolate = await world.asleep();
    // Each attempt finds everything asleep.
    const before = async (): Promise<void> => void (isolate = await world.asleep());
    await economy.measure("health check of a node: asleep", () => isolate.send("GET", HEALTH), { before });
    await economy.measure("health check of a node: warm", () => isolate.send("GET", HEALTH));
    economy.expectWithinBounds();
  },
  SLOW_MACHINE_MS,
);
