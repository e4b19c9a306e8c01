/** Random values of a schema in the form that decoding returns, drawn from a seeded generator. */
import type { Random } from "../../../../src/core/base/ports";
import { encodeBase64 } from "../../../../src/core/encoding/base64";
import { formatMicroTime, formatTime } from "../../../../src/api/schema/instant";
import type { Field, FieldType, MessageSchema } from "../../../../src/api/schema/types";

const TEXTS = ["a", "web-1", "ünïcödé", "日本語", 'with "quotes" and \\', "line\nbreak", "__proto__", "constructor", "x".repeat(200), "😀"];
const QUANTITIES = ["100m", "1536Mi", "2", "1e3", "-5"];

export class RandomValues {
  constructor(private readonly random: Random) {}

  message(schema: MessageSchema): Record<string, unknown> {
    const out: Record<string, unknown> = {};
    for (const field of schema.fields) {
      if (field.inline && field.type.kind === "message") Object.assign(out, this.message(field.type.message()));
      else this.field(field, out);
    }
    return out;
  }

  private field(field: Field, out: Record<string, unknown>): void {
    // Go writes plain messages even when empty; every other member may be absent
    const isStruct = field.type.kind === "message" && field.presence !== "pointer";
    const isAlwaysScalar = field.presence === "always" && !["list", "map", "time", "microTime"].includes(field.type.kind);
    if (!isStruct && !isAlwaysScalar && this.random.next() < 0.6) return;
    const value = this.value(field.type, field.presence === "plain");
    if (value !== undefined) out[field.name] = value;
  }

  private value(type: FieldType, nonZero: boolean): unknown {
    switch (type.kind) {
      case "string":
        return this.text(nonZero);
      case "int32":
        return this.integer(2147483648, nonZero);
      case "int64":
        return this.integer(Number.MAX_SAFE_INTEGER, nonZero);
      case "bool":
        return nonZero || this.random.next() < 0.5;
      case "bytes":
        return encodeBase64(this.text(nonZero));
      case "time":
        return formatTime({ seconds: this.seconds(), nanos: 0 });
      case "microTime":
        return formatMicroTime({ seconds: this.seconds(), nanos: this.random.below(1_000_000) * 1000 });
      case "intOrString":
        return this.random.next() < 0.5 ? this.text(nonZero) : this.integer(65536, nonZero);
      case "quantity":
        return QUANTITIES[this.random.below(QUANTITIES.length)];
      case "fieldsV1":
        return { "f:spec": { "f:x": {}, [`k:{"port":${this.random.below(9)}}`]: { ".": {} } } };
      case "message":
        return this.message(type.message());
      case "list":
        return Array.from({ length: 1 + this.random.below(2) }, () => this.value(type.of, false));
      case "map": {
        const entries = Array.from({ length: 1 + this.random.below(3) }, (): [string, unknown] => [
          this.text(false),
          this.value(type.of, false),
        ]);
        return Object.fromEntries(entries);
      }
    }
  }

  private text(nonZero: boolean): string {
    if (!nonZero && this.random.next() < 0.1) return "";
    return TEXTS[this.random.below(TEXTS.length)] ?? "a";
  }

  private integer(bound: number, nonZero: boolean): number {
    const value = this.random.below(bound) * (this.random.next() < 0.3 ? -1 : 1);
    return value === 0 ? (nonZero ? 1 : 0) : value;
  }

  /** year 1 to year 9999 */
  private seconds(): number {
    return -62135596800 + 1 + this.random.below(315537897599);
  }
}
