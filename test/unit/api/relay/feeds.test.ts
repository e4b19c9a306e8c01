import { expect, it } from "vitest";
import { Feeds, type NotOpened } from "../../../../src/api/relay/feeds";

const why: NotOpened = { error: new Error("no socket") };

class Waiting {
  readonly heard: NotOpened[] = [];
  wakes = 0;

  notOpened(_: number, reason: NotOpened): void {
    this.heard.push(reason);
  }

  wake(): void {
    this.wakes++;
  }
}

it("a watch that waits: hears why there is no socket, once", () => {
  const feeds = new Feeds();
  const [opener, waiting] = [{ isSilent: () => false }, new Waiting()];
  feeds.beginOpening("cohort", 5, opener);
  expect([feeds.isOpening("cohort", 5, waiting), feeds.isOpening("cohort", 6, waiting)]).toEqual([true, false]);
  feeds.endOpening("cohort", 5, opener, why);
  feeds.endOpening("cohort", 5, opener, why);
  expect([waiting.heard, waiting.wakes, feeds.size]).toEqual([[why], 1, 0]);
});

it("a silent opener whose place another one has: what it hears at last is nobody else's", () => {
  const feeds = new Feeds();
  const [silent, opener, waiting] = [{ isSilent: () => true }, { isSilent: () => false }, new Waiting()];
  feeds.beginOpening("cohort", 5, silent);
  expect(feeds.isOpening("cohort", 5, waiting)).toBe(false);
  feeds.beginOpening("cohort", 5, opener);
  expect(feeds.isOpening("cohort", 5, waiting)).toBe(true);
  feeds.endOpening("cohort", 5, silent, why);
  expect([waiting.heard, feeds.isOpening("cohort", 5, waiting)]).toEqual([[], true]);
});
