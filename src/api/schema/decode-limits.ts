/** Every bound of what is decoded, with its unit and its reason. One turn of the thread decodes a body, and all other clients wait for it. */

/** Stored JSON of one object; a row may hold 2 MB. Upstream's etcd refuses beyond the same size. */
export const OBJECT_MAX_BYTES = 1_572_864;

/**
 * Signs of one document that a value begins or ends: colons, commas and opening brackets, those of unknown fields too. An object of 1.5 MiB has far
 * fewer, and a body of 3 MiB may have a million that say nothing.
 */
export const VALUES_MAX = 300_000;

/** The same of a configuration that is applied: each member becomes a field with an owner, which costs several times as much. */
export const APPLIED_VALUES_MAX = 100_000;

/** Deeper documents are refused. No API object comes near, and later recursive steps rely on the bound. */
export const DEPTH_MAX = 1000;

/** Characters of a document in YAML: an object of the largest size. */
export const YAML_MAX_CHARS = OBJECT_MAX_BYTES;

/**
 * Steps of reading YAML: words, signs and lines, and the values that aliases repeat. 1,000 endpoints of a slice take 40,000; all together take as
 * long as two or three parses of 3 MB of JSON.
 */
export const YAML_STEPS_MAX = 100_000;
export const TOO_MANY_STEPS = `the document is too large: limit is ${YAML_STEPS_MAX} words, signs, lines and repeated values`;

/** Deeper values of YAML are refused: the library composes them recursively. */
export const YAML_DEPTH_MAX = 250;

/** Characters of a directive: what it says of a tag stands for each use of the tag. */
export const YAML_DIRECTIVE_MAX_CHARS = 256;

/** Why a document is 413: for its size. */
export const TOO_LARGE = `Request entity too large: limit is ${OBJECT_MAX_BYTES}`;
/** Why a document is 413: for what it says. */
export const TOO_MANY_VALUES = `Request entity too large: limit is ${VALUES_MAX} values`;
export const TOO_MANY_APPLIED = `Request entity too large: limit is ${APPLIED_VALUES_MAX} values of an apply`;
