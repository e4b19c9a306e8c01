import { describe, expect, it } from "vitest";
import { ReleaseInquiry } from "../../../../src/addresses/ledger/release-inquiry";
import type { AskedAddress } from "../../../../src/addresses/ledger/wanted-address";

const FIVE: AskedAddress = { family: "IPv4", address: "10.0.0.5" };
const SIX: AskedAddress = { family: "IPv4", address: "10.0.0.6" };

describe("questions to the ipaddresses store", () => {
  it("of one turn: go out in one call, each once, and get their own answers", async () => {
    const calls: AskedAddress[][] = [];
    const inquiry = new ReleaseInquiry((asked) => {
      calls.push(asked);
      return Promise.resolve(asked.map(({ address }) => address === FIVE.address));
    });
    expect(await Promise.all([FIVE, SIX, FIVE].map((asked) => inquiry.isReleasing(asked)))).toEqual([true, false, true]);
    expect(calls).toEqual([[FIVE, SIX]]);
  });

  it("of any address: go out in a call of their own, because they take a topology to answer", async () => {
    const ANY: AskedAddress = { family: "IPv4", address: "" };
    const calls: AskedAddress[][] = [];
    const inquiry = new ReleaseInquiry((asked) => {
      calls.push(asked);
      return asked.some(({ address }) => address === "") ? new Promise(() => undefined) : Promise.resolve(asked.map(() => true));
    });
    void inquiry.isReleasing(ANY);
    expect(await inquiry.isReleasing(FIVE)).toBe(true);
    expect(calls).toEqual([[ANY], [FIVE]]);
  });

  it("of a later turn: are asked anew, also while the first call is under way", async () => {
    const answers: ((pending: boolean) => void)[] = [];
    const inquiry = new ReleaseInquiry(() => new Promise((resolve) => answers.push((pending) => resolve([pending]))));
    const first = inquiry.isReleasing(FIVE);
    await Promise.resolve();
    const second = inquiry.isReleasing(FIVE);
    await Promise.resolve();
    answers.forEach((answer, call) => answer(call === 1));
    expect(await Promise.all([first, second])).toEqual([false, true]);
  });

  it("a call that fails: rejects", async () => {
    const inquiry = new ReleaseInquiry(() => Promise.reject(new Error("no connection")));
    await expect(inquiry.isReleasing(FIVE)).rejects.toThrow("no connection");
  });

  it("an answer that is missing: rejects", async () => {
    const inquiry = new ReleaseInquiry(() => Promise.resolve([]));
    await expect(inquiry.isReleasing(FIVE)).rejects.toThrow("left a question open");
  });
});
