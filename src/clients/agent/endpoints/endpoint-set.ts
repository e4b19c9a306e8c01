/** The endpoints that the machine is to have: those of options, which stay, and those of a file, which is followed. */
import { errorOf } from "../../../api/client/follow-collection";
import type { Recorder } from "../../../core/base/ports";
import { err, ok, type Result } from "../../../core/base/result";
import type { ElectorClock } from "../../elector/term";
import type { StateFiles } from "../ports/agent-ports";
import { type EndpointEntry, entryKey } from "./endpoint-entry";
import { readEndpointFile } from "./endpoint-file";
import { readEndpointFlag } from "./endpoint-flag";
import { followFile, sayUnusable, settledText } from "./followed-file";
import { KeptState } from "./kept-state";
import type { EndpointText } from "./machine-ports";

export interface EndpointSources {
  /** the values of --endpoint */
  readonly flags: readonly string[];
  /** that of --endpoints */
  readonly file: EndpointText | undefined;
}

interface SetPorts {
  readonly clock: Pick<ElectorClock, "after">;
  readonly recorder: Recorder;
  readonly files: StateFiles;
}

export class EndpointSet {
  #entries: ReadonlyMap<string, EndpointEntry> = new Map();
  /** what is wrong with the file that was read first */
  #fault = "";

  private constructor(
    private readonly ports: SetPorts,
    readonly state: KeptState,
    private readonly fixed: readonly EndpointEntry[],
    private readonly file: EndpointText | undefined,
    private text: string,
  ) {}

  /**
   * Reads the sources; the error is one line. A file that is missing or faulty is an error, unless a former run has seen a good text of it. The
   * machine may have been restarted while somebody was editing. A text that is not the last good one takes two looks. Rejects when the state cannot
   * be read.
   */
  static async load(ports: SetPorts, { flags, file }: EndpointSources): Promise<Result<EndpointSet, string>> {
    const fixed: EndpointEntry[] = [];
    for (const flag of flags) {
      const entry = readEndpointFlag(flag);
      if (!entry.ok) return err(`--endpoint ${flag}: ${entry.error}`);
      if (fixed.some((other) => entryKey(other) === entryKey(entry.value))) return err(`--endpoint ${flag}: there are two of this name`);
      fixed.push(entry.value);
    }
    const state = await KeptState.read(ports.files, ports.recorder);
    const set = new EndpointSet(ports, state, fixed, file, "");
    const problem = file ? await set.#readFirst(file) : set.#use([], "");
    await state.save();
    return problem === undefined ? ok(set) : err(problem);
  }

  /** By key. */
  get entries(): ReadonlyMap<string, EndpointEntry> {
    return this.#entries;
  }

  /** Calls `onChange` after each change of the set. The returned function ends it. */
  follow(onChange: () => void): () => void {
    const { file, ports, text } = this;
    if (!file) return () => undefined;
    return followFile({
      ...ports,
      file,
      text,
      said: this.#fault,
      readText: (next) => this.#read(next),
      onChange: (entries, next) => {
        this.#use(entries, next);
        onChange();
      },
    });
  }

  async #readFirst(file: EndpointText): Promise<string | undefined> {
    let why: string;
    try {
      const text = await settledText(file, this.ports.clock, this.state.goodText(file.name));
      const read = this.#read(text);
      if (read.ok) return this.#use(read.value, text);
      why = read.error;
    } catch (error) {
      why = errorOf(error).message;
    }
    const text = this.state.goodText(file.name);
    const former = text === undefined ? undefined : this.#read(text);
    if (text === undefined || !former?.ok) return `${file.name}: ${why}`;
    sayUnusable(this.ports.recorder, file, why);
    this.#fault = why;
    return this.#use(former.value, text);
  }

  #read(text: string): Result<readonly EndpointEntry[], string> {
    const read = readEndpointFile(text);
    if (!read.ok) return read;
    const twice = read.value.find((entry) => this.fixed.some((other) => entryKey(other) === entryKey(entry)));
    return twice ? err(`endpoint ${entryKey(twice)} is given by --endpoint, too`) : read;
  }

  #use(entries: readonly EndpointEntry[], text: string): undefined {
    this.text = text;
    this.#entries = new Map([...this.fixed, ...entries].map((entry) => [entryKey(entry), entry]));
    if (this.file) this.state.keepGood(this.file.name, text);
    this.state.retain(this.#entries.values());
  }
}
