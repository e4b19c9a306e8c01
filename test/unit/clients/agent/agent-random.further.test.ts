/**
 * Random histories of the agents of one node: two folders, deaths, sleeps, lost messages, clocks that are apart, a server
 * that dies, Nodes that turn Unknown, a disk that takes and shows nothing, a token file that vanishes.
 */
import { expect, it } from "vitest";
import { pick, seededRandom } from "../../../support/sim/platform/seeded-random";
import { histories, playEach, seedsOf } from "../../../support/sim/platform/seeds";
import { AgentWorld, SimAgent } from "../../../support/worlds/agent-world";

const HISTORIES = histories(3);
const STEPS = 30;
const SECOND = 1_000;

async function history(seed: number): Promise<void> {
  const random = seededRandom(seed);
  const world = new AgentWorld();
  const agents: SimAgent[] = [];
  const start = (folder: string): void => {
    // A supervisor runs one process of a folder.
    for (const { folder: of, process } of agents) if (of === folder) process.kill();
    const latencyMs = pick(random, [1, 20, 200]);
    agents.push(
      new SimAgent(world, random, {
        folder,
        latencyMs,
        aheadMs: random.below(7_200_000) - 3_600_000,
        isLost: () => random.below(50) === 0,
      }),
    );
  };
  const living = (): SimAgent[] => agents.filter(({ isAlive }) => isAlive);
  const steps: (() => void | Promise<void>)[] = [
    () => start(pick(random, ["a", "b"])),
    () => start(pick(random, ["a", "b"])),
    () => living()[0]?.process.kill(),
    () => living()[0]?.process.sleep(),
    () => living()[0]?.process.pause(),
    () => agents.forEach(({ process }) => process.resume()),
    () => agents.forEach(({ process }) => process.resume()),
    () => world.stopServer(),
    () => world.startServer(),
    () => world.startServer(),
    () => world.becomeUnknown(),
    () => void (world.fileFault = (what) => pick(random, ["read", "write", "token"]) === what),
    () => void (world.fileFault = (what) => what === "token"),
    () => void (world.fileFault = () => false),
    () => void (world.fileFault = () => false),
  ];
  start("a");
  for (let step = 0; step < STEPS; step++) {
    await world.scheduler.pass(random.below(60 * SECOND));
    await pick(random, steps)();
  }
  // Everybody may go on: one agent is left, and the Node is its.
  world.startServer();
  world.fileFault = () => false;
  agents.forEach(({ process }) => process.resume());
  await world.scheduler.pass(120 * SECOND);
  if (living().length === 0) start("c");
  await world.scheduler.pass(120 * SECOND);
  const [last, ...others] = living();
  expect(others).toEqual([]);
  expect(last?.isReady).toBe(true);
  expect(world.ready).toBe("True");
  expect(world.writers.at(-1)).toBe(last?.name);
  // Nobody writes after another one has begun to.
  expect(new Set(world.writers).size, world.writers.join(" ")).toBe(world.writers.length);
}

it(`${String(HISTORIES)} random histories: agents write one after the other, and at the end one holds a Ready node`, () =>
  playEach(seedsOf(HISTORIES), history));

/** A request of a killed process arrived after the first one of the next process. */
it("seed 123457397, which failed once: ends as the others", () => history(123_457_397));
