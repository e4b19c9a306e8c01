/**
 * A document of YAML becomes the JSON value that Go makes of it: its scalars, the names of its members, merge keys and aliases.
 * Source: go.yaml.in/yaml/v2 decode.go, sigs.k8s.io/yaml yaml.go (convertToJSONableObject).
 */
import { type Document, isAlias, isMap, isScalar, isSeq, type LineCounter, type ParsedNode, Scalar, type YAMLMap } from "yaml";
import { integerOf } from "../../../core/encoding/exact-json";
import { TOO_MANY_STEPS, YAML_MAX_CHARS, YAML_STEPS_MAX } from "../decode-limits";
import type { JsonObject, JsonValue } from "./json-value";
import { invalidMapKey, isMergeKey, keyOf, type ScalarText, scalarOf } from "./yaml-scalars";

export interface YamlValue {
  /** numbers may be infinite or NaN; values of aliases are shared */
  value: JsonValue;
  /** the value is what its JSON would be read as: no value stands in it twice, and each number is as JSON has it */
  isJson: boolean;
  /** `line 4: key "a" already set in map`, in the order of the text, at most REPEATED_MAX */
  repeated: string[];
}

const REPEATED_MAX = 100;
/** Which part of all values aliases may repeat: allowedAliasRatio of decode.go, for documents of a size that is read here. */
const ALIASED_SHARE_MAX = 0.99;

/** The value of a document without errors, whose schema leaves all scalars text. Throws with Go's text where there is none. */
export function yamlValue(document: Document.Parsed, lines: LineCounter): YamlValue {
  const reader = new YamlReader(lines);
  const value = reader.value(document.contents);
  return { value, isJson: reader.isJson, repeated: reader.repeated };
}

type Members = Map<string, JsonValue>;

interface Name {
  readonly name: string;
  /** as the text of a repeated key has it */
  readonly shown: string;
}

/** What was read so far, or what one value took; aliases count as what they repeat. */
interface YamlSize {
  nodes: number;
  chars: number;
}

interface Anchored {
  readonly node: ParsedNode;
  /** undefined = it is being read */
  read?: Readonly<YamlSize> & { readonly value: JsonValue };
}

class YamlReader {
  readonly repeated: string[] = [];
  isJson = true;
  /** the last node of each name so far */
  readonly #anchors = new Map<string, Anchored>();
  readonly #all: YamlSize = { nodes: 0, chars: 0 };
  /** of that, what aliases repeated */
  readonly #aliased: YamlSize = { nodes: 0, chars: 0 };

  constructor(private readonly lines: LineCounter) {}

  value(node: ParsedNode | null): JsonValue {
    if (!node) return null;
    const { nodes, chars } = this.#all;
    this.#all.nodes++;
    if (isAlias(node)) return this.#repeated(node.source);
    const anchored: Anchored = { node };
    if (node.anchor !== undefined) this.#anchors.set(node.anchor, anchored);
    const value = this.#ownValue(node);
    anchored.read = { value, nodes: this.#all.nodes - nodes, chars: this.#all.chars - chars };
    return value;
  }

  #ownValue(node: ParsedNode): JsonValue {
    if (isMap(node)) return Object.fromEntries(this.#members(node));
    if (isSeq(node)) return node.items.map((item) => this.value(item));
    if (!isScalar(node)) return null;
    this.#all.chars += node.source.length;
    const { value } = scalarOf(textOf(node));
    const read = typeof value === "bigint" ? integerOf(value) : value;
    if (typeof read === "bigint" || (typeof read === "number" && !isAsInJson(read))) this.isJson = false;
    return read;
  }

  /** A later member replaces an earlier one, whether it is the map's own or merged. */
  #members(map: YAMLMap.Parsed): Members {
    const members: Members = new Map();
    for (const { key, value } of map.items) {
      if (isScalar(key) && isMergeKey(textOf(key))) this.#merge(value, members);
      else {
        const name = this.#name(key);
        this.#set(members, name, this.value(value), value ?? key);
      }
    }
    return members;
  }

  #name(key: ParsedNode): Name {
    this.value(key);
    const node = this.#target(key);
    if (!isScalar(node)) throw invalidMapKey(isMap(node));
    const scalar = scalarOf(textOf(node));
    const name = keyOf(scalar);
    return { name, shown: scalar.kind === "str" ? JSON.stringify(name) : name };
  }

  #set(members: Members, { name, shown }: Name, value: JsonValue, at: ParsedNode): void {
    if (members.has(name) && this.repeated.length < REPEATED_MAX)
      this.repeated.push(`line ${this.lines.linePos(at.range[0]).line}: key ${shown} already set in map`);
    members.set(name, value);
  }

  /** Of several maps the first one counts. */
  #merge(value: ParsedNode | null, members: Members): void {
    const whole = this.value(value);
    const read = isSeq(value)
      ? value.items.map((source, at) => ({ source, value: (whole as JsonValue[])[at] }))
      : [{ source: value, value: whole }];
    for (const each of read.reverse()) {
      if (!each.source || !isMap(this.#target(each.source))) throw new Error("map merge requires map or sequence of maps as the value");
      for (const [name, member] of Object.entries(each.value as JsonObject))
        this.#set(members, { name, shown: JSON.stringify(name) }, member, each.source);
    }
  }

  /** The node that a value stands for. */
  #target(node: ParsedNode): ParsedNode {
    return isAlias(node) ? this.#anchored(node.source).node : node;
  }

  #anchored(name: string): Anchored {
    const anchored = this.#anchors.get(name);
    if (!anchored) throw new Error(`unknown anchor '${name}' referenced`);
    return anchored;
  }

  #repeated(name: string): JsonValue {
    this.isJson = false;
    const { read } = this.#anchored(name);
    if (!read) throw new Error(`anchor '${name}' value contains itself`);
    for (const amount of [this.#all, this.#aliased]) {
      amount.nodes += read.nodes;
      amount.chars += read.chars;
    }
    const isTooMuch = this.#aliased.nodes > 100 && this.#all.nodes > 1_000 && this.#aliased.nodes / this.#all.nodes > ALIASED_SHARE_MAX;
    if (this.#all.nodes > YAML_STEPS_MAX) throw new Error(TOO_MANY_STEPS);
    if (isTooMuch || this.#aliased.chars > YAML_MAX_CHARS) throw new Error("document contains excessive aliasing");
    return read.value;
  }
}

/** Whether a number comes back from JSON as it is. Large integers come back as bigints, and -0 as 0. */
function isAsInJson(value: number): boolean {
  return Number.isInteger(value) ? Number.isSafeInteger(value) && !Object.is(value, -0) : Number.isFinite(value);
}

function textOf(scalar: Scalar.Parsed): ScalarText {
  return { text: scalar.source, isPlain: scalar.type === Scalar.PLAIN, tag: scalar.tag };
}
