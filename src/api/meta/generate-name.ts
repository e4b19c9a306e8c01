/** Names that the server makes from generateName (upstream apiserver storage/names/generate.go). */
import type { Random } from "../../core/base/ports";
import { LABEL_LENGTH_MAX } from "./names";

/** The text to validate for a generateName: a trailing dash is fine, because a suffix follows (upstream maskTrailingDash). */
export function maskTrailingDash(value: string): string {
  return value.length > 1 && value.endsWith("-") ? `${value.slice(0, -2)}a` : value;
}

/** No vowels and no 0, 1, 3: no bad words, no look-alikes. */
const SUFFIX_ALPHABET = "bcdfghjklmnpqrstvwxz2456789";
const SUFFIX_LENGTH = 5;
const GENERATED_BASE_LENGTH_MAX = LABEL_LENGTH_MAX - SUFFIX_LENGTH;

/** `base` cut to 58 characters plus five random ones, so that the result fits a label. */
export function generateName(base: string, random: Random): string {
  let name = base.length > GENERATED_BASE_LENGTH_MAX ? base.slice(0, GENERATED_BASE_LENGTH_MAX) : base;
  for (let i = 0; i < SUFFIX_LENGTH; i++) name += SUFFIX_ALPHABET.charAt(random.below(SUFFIX_ALPHABET.length));
  return name;
}
