/**
 * The record of upstream's answers: one line for each step of the corpus, JSON. `[id, request, code, headers, body]`: `request` is a hash by which a step
 * that was changed since is noticed; `headers` leaves out the Content-Type of JSON; a Status of a failure is `{"!": [reason, message, details]}`, and `"="`
 * a body that is that of the line before.
 */
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../../scripts/running/root.mjs";
import type { Answer } from "./play";
import { type Group, type Step, stepId } from "./step";

const PATH = join(root, "test", "fixtures", "upstream", "answers-1.36.jsonl");
const HASH_CHARACTERS = 6;
const JSON_TYPE = "application/json";
const SAME = "=";

type Line = [id: string, request: string, code: number, headers: Record<string, string>, body: unknown];

export interface Recorded {
  request: string;
  answer: Answer;
}

/** What stands for the request in the record. */
export function requestHash(step: Step): string {
  return createHash("sha256").update(JSON.stringify(step)).digest("base64url").slice(0, HASH_CHARACTERS);
}

/** The answers by the steps' ids. */
export function readRecord(): Map<string, Recorded> {
  const lines = readFileSync(PATH, "utf8").trimEnd().split("\n");
  let last: unknown;
  return new Map(
    lines.map((line) => {
      const [id, request, code, headers, body] = JSON.parse(line) as Line;
      if (body !== SAME) last = body;
      const answer = { code, headers: { "content-type": JSON_TYPE, ...headers }, body: unpacked(last, code) };
      return [id, { request, answer }];
    }),
  );
}

/** Writes the record anew. */
export function writeRecord(corpus: readonly Group[], answers: ReadonlyMap<string, Answer>): void {
  let last = "";
  const lines = corpus.flatMap((group) =>
    group.cases.flatMap((case_) =>
      case_.steps.map((step, index) => {
        const id = stepId(group, case_, index);
        const answer = answers.get(id);
        if (!answer) throw new Error(`no answer to ${id}`);
        const { "content-type": type, ...others } = answer.headers;
        const headers = type === JSON_TYPE ? others : { "content-type": type ?? "", ...others };
        const body = packed(answer.body, answer.code);
        const text = JSON.stringify(body);
        const line: Line = [id, requestHash(step), answer.code, headers, text === last ? SAME : body];
        last = text;
        return JSON.stringify(line);
      }),
    ),
  );
  writeFileSync(PATH, `${lines.join("\n")}\n`);
}

function packed(body: unknown, code: number): unknown {
  const { kind, status, reason, message, details } = (body ?? {}) as Record<string, unknown>;
  if (kind !== "Status" || status !== "Failure") return body;
  const short = { "!": [reason, message, ...(details === undefined ? [] : [details])] };
  return JSON.stringify(sorted(unpacked(short, code))) === JSON.stringify(sorted(body)) ? short : body;
}

function unpacked(body: unknown, code: number): unknown {
  const [reason, message, details] = ((body as Record<string, unknown> | null)?.["!"] as unknown[] | undefined) ?? [];
  if (message === undefined) return body;
  const status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, reason, code };
  return details === undefined ? status : { ...status, details };
}

function sorted(body: unknown): unknown {
  return Object.fromEntries(Object.entries(body as object).sort(([a], [b]) => (a < b ? -1 : 1)));
}
