/**
 * Follows the file of endpoints. A text counts when two looks in a row have found it: an editor may be writing. While the file is missing, faulty or
 * contradicts the options, the last good set holds. Each fault is reported once.
 */
import { errorOf } from "../../../api/client/follow-collection";
import { pause } from "../../../core/base/pause";
import type { Recorder } from "../../../core/base/ports";
import type { Result } from "../../../core/base/result";
import type { ElectorClock } from "../../elector/term";
import type { EndpointEntry } from "./endpoint-entry";
import type { EndpointText } from "./machine-ports";

const LOOK_MS = 1_000;
/** of a start, at a file that changes all the time */
const LOOKS_MAX = 10;

export interface FollowedFileOptions {
  readonly clock: Pick<ElectorClock, "after">;
  readonly recorder: Recorder;
  readonly file: EndpointText;
  /** the text that the current set comes from */
  readonly text: string;
  /** what has been said of the file already; "" = nothing is wrong with it */
  readonly said: string;
  readText(text: string): Result<readonly EndpointEntry[], string>;
  onChange(entries: readonly EndpointEntry[], text: string): void;
}

/** The text that two looks in a row have found. `known` needs one look. Rejects when the file cannot be read, or does not come to rest. */
export async function settledText(file: EndpointText, clock: Pick<ElectorClock, "after">, known: string | undefined): Promise<string> {
  let seen = await file.read();
  for (let looks = 1; seen !== known; looks++) {
    if (looks === LOOKS_MAX) throw new Error(`it has changed at each of ${String(LOOKS_MAX)} looks`);
    await pause(clock, LOOK_MS);
    const text = await file.read();
    if (text === seen) return text;
    seen = text;
  }
  return seen;
}

/** Begins to follow. The returned function ends it. */
export function followFile(options: FollowedFileOptions): () => void {
  const { clock, file, recorder, readText, onChange } = options;
  let { text: current, said } = options;
  let seen = current;
  let isStopped = false;
  let cancel: () => void;

  const complain = (why: string): void => {
    if (why !== said) sayUnusable(recorder, file, why);
    said = why;
  };

  const take = (text: string): void => {
    const isSettled = text === seen;
    seen = text;
    if (!isSettled || (text === current && said === "")) return;
    const read = readText(text);
    if (!read.ok) {
      complain(read.error);
      return;
    }
    if (said !== "") recorder.log("info", "the file of endpoints is good again", { file: file.name });
    said = "";
    if (text === current) return;
    current = text;
    onChange(read.value, text);
  };

  const look = async (): Promise<void> => {
    try {
      const text = await file.read();
      if (!isStopped) take(text);
    } catch (error) {
      if (!isStopped) complain(errorOf(error).message);
    }
    if (!isStopped) cancel = clock.after(LOOK_MS, () => void look());
  };
  cancel = clock.after(LOOK_MS, () => void look());
  return () => {
    isStopped = true;
    cancel();
  };
}

export function sayUnusable(recorder: Recorder, file: EndpointText, why: string): void {
  recorder.log("error", "the file of endpoints cannot be used; the last good set stays", { file: file.name, why });
}
