import { expect, it } from "vitest";
import { socketsTurn } from "../../../../src/worker/http/sockets-turn";

it("requests that begin at once: after some the next one waits for a turn, and then as many begin at once again", async () => {
  let fire: () => void = () => undefined;
  const clock = { nextTurn: () => new Promise<void>((resolve) => (fire = resolve)) };
  const untilWait = (): { begun: number; turn: Promise<void> } => {
    for (let begun = 0; ; begun++) {
      const turn = socketsTurn(clock);
      if (turn) return { begun, turn };
    }
  };
  // Requests of other tests may have begun before.
  const first = untilWait();
  fire();
  await first.turn;
  const second = untilWait();
  expect(second.begun).toBe(64);
  // One that nobody waits for any more frees the others all the same.
  fire();
  await second.turn;
  expect(untilWait().begun).toBe(64);
});
