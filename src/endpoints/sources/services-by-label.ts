/**
 * Which Services may select a Pod, by the labels of their selectors: three labels of each, as hashes, in 20 to 25 bytes for each Service.
 *
 * Each stands under that of its labels which the fewest others stand under, and is passed over where the Pod lacks one of two more. So of many Services that
 * share labels, as one for each Pod of a StatefulSet (`statefulset.kubernetes.io/pod-name`), a Pod meets those alone that have its own.
 */
import { grown } from "../../core/tables/grown";
import { NumberGroups } from "../../core/tables/number-groups";
import { textHash } from "../../core/tables/text-hash";

/** Labels that more Services than these stand under are equally common. */
const COUNTED_MAX = 32;
/** Further labels of a Service that are compared; hardly a selector has more. */
const MARKS = 2;
/** instead of a mark: the selector has no further label */
const NO_MARK = 0;

export class ServicesByLabel {
  /** numbers of Services by one label */
  readonly #groups = new NumberGroups();
  /** `MARKS` of each number, of other labels; behind its end there are none */
  #marks = new Uint16Array(16);

  /** @param labels of the selector, as texts with the namespace; none = the Service has no Pods */
  add(number: number, labels: readonly string[]): void {
    this.#groups.delete(number);
    const hashes = labels.map(textHash);
    const [rarest, ...others] = hashes.length > 1 ? this.#rarestFirst(hashes) : hashes;
    if (rarest === undefined) return;
    this.#groups.add(rarest, number);
    // Where selectors have one label, as most have, there are no marks.
    if (others.length > 0) this.#marks = grown(this.#marks, (number + 1) * MARKS);
    for (let i = 0; i < MARKS; i++) {
      const other = others[i];
      this.#marks[number * MARKS + i] = other === undefined ? NO_MARK : markOf(other);
    }
  }

  delete(number: number): void {
    this.#groups.delete(number);
  }

  clear(): void {
    this.#groups.clear();
    this.#marks = new Uint16Array(16);
  }

  /** The numbers of the Services that a Pod with these labels may belong to, each once. Who asks compares the whole selector. */
  of(labels: readonly string[]): number[] {
    const hashes = [...new Set(labels.map(textHash))];
    const marks = new Set([NO_MARK, ...hashes.map(markOf)]);
    const hasMarks = (number: number): boolean => {
      for (let i = 0; i < MARKS; i++) if (!marks.has(this.#marks[number * MARKS + i] ?? NO_MARK)) return false;
      return true;
    };
    return hashes.flatMap((hash) => this.#groups.of(hash).filter(hasMarks));
  }

  #rarestFirst(hashes: readonly number[]): number[] {
    const sizes = new Map(hashes.map((hash) => [hash, this.#groups.sizeUpTo(hash, COUNTED_MAX)]));
    return [...hashes].sort((a, b) => (sizes.get(a) ?? 0) - (sizes.get(b) ?? 0));
  }
}

/** 16 bits of a label's hash, and not `NO_MARK`. */
function markOf(hash: number): number {
  return hash >>> 16 || 1;
}
