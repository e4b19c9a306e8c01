import { describe, expect, it } from "vitest";
import { LastAnswers } from "../../../../src/worker/system/last-answers";

const answer = (isOfNode: boolean, code: 200 | 503 = 200) => ({ code, headers: {}, body: "", isOfNode });
const GOOD = answer(true);
const AT = Date.UTC(2026, 0, 1);
const KEPT = { answer: GOOD, at: AT };

describe("last answers of an isolate", () => {
  it("a name without a Node, and a port where nothing answers: nothing is kept", () => {
    const answers = new LastAnswers();
    answers.put("x", "/healthz", answer(false, 503), AT);
    answers.put("a", "80", null, AT);
    expect([answers.get("x", "/healthz"), answers.get("a", "80")]).toEqual([undefined, undefined]);
  });

  it("a Node that was removed, and a check that ended: that is the last answer", () => {
    const answers = new LastAnswers();
    const gone = answer(false, 503);
    answers.put("a", "/healthz", GOOD, AT);
    answers.put("a", "/healthz", gone, AT);
    answers.put("a", "30000", GOOD, AT);
    answers.put("a", "30000", null, AT);
    expect([answers.get("a", "/healthz")?.answer, answers.get("a", "30000")?.answer]).toEqual([gone, null]);
  });

  it("beyond the bound: the node goes that was asked for least recently, with all its answers", () => {
    const answers = new LastAnswers(4, 3);
    for (const node of ["a", "b"]) for (const question of ["1", "2"]) answers.put(node, question, GOOD, AT);
    answers.put("a", "1", GOOD, AT);
    answers.put("c", "1", GOOD, AT);
    const held = ["a", "b", "c"].map((node) => ["1", "2"].map((question) => answers.get(node, question) !== undefined));
    expect(held).toEqual([
      [true, true],
      [false, false],
      [true, false],
    ]);
  });

  it("many answers of one node: its own oldest goes, and no other node", () => {
    const answers = new LastAnswers(4, 3);
    answers.put("b", "1", GOOD, AT);
    for (const question of ["1", "2", "3", "4", "5"]) answers.put("a", question, GOOD, AT);
    expect(["1", "2", "3", "4", "5"].filter((question) => answers.get("a", question))).toEqual(["3", "4", "5"]);
    expect(answers.get("b", "1")).toEqual(KEPT);
  });

  it("a node with 1,000 checks of Services: keeps them all, and with more still /healthz and /livez", () => {
    const answers = new LastAnswers();
    for (const path of ["/healthz", "/livez"]) answers.put("a", path, GOOD, AT);
    for (let i = 0; i < 1_000; i++) answers.put("a", `default/web-${i} `, GOOD, AT);
    expect([answers.get("a", "default/web-0 ")?.answer, answers.get("a", "default/web-999 ")?.answer]).toEqual([GOOD, GOOD]);
    answers.put("a", "default/other ", GOOD, AT);
    expect(answers.get("a", "default/web-0 ")).toBeUndefined();
    for (const path of ["/healthz", "/livez"]) expect(answers.get("a", path)).toEqual(KEPT);
  });

  it("many nodes with checks of Services: take no place from /healthz", () => {
    const answers = new LastAnswers(4, 3);
    answers.put("a", "/healthz", GOOD, AT);
    for (const node of ["b", "c", "d"]) for (const question of ["1", "2"]) answers.put(node, question, GOOD, AT);
    expect([answers.get("a", "/healthz"), answers.get("b", "1"), answers.get("d", "1")]).toEqual([KEPT, undefined, KEPT]);
  });

  it("a node that is forgotten: makes room", () => {
    const answers = new LastAnswers(2, 2);
    answers.put("a", "1", GOOD, AT);
    answers.put("b", "1", GOOD, AT);
    answers.put("a", "/livez", GOOD, AT);
    answers.forget("a");
    answers.put("c", "1", GOOD, AT);
    expect(answers.get("a", "/livez")).toBeUndefined();
    expect([answers.get("a", "1"), answers.get("b", "1"), answers.get("c", "1")]).toEqual([undefined, KEPT, KEPT]);
  });
});
