/**
 * Whether an apply configuration fits its schema. Here an unknown field is an error whatever fieldValidation says.
 * Texts: structured-merge-diff typed/validate.go, where values print as Go prints them.
 */
import { getMember, isJsonObject, type JsonObject, type JsonValue } from "../schema/json/json-value";
import type { FieldType, MessageSchema } from "../schema/types";
import { itemElement, type ListShape, rootShape, type Shape, type StructPlan } from "./field-plan";
import { elementText, fieldElement, type PathElement } from "./path-element";

/** Errors reported for one configuration, so that a hostile one cannot make a huge answer. */
const ERRORS_MAX = 100;

/** Every error as `.spec.foo: field not declared in schema`, in the order of the document; empty = it fits. */
export function checkConfig(config: JsonObject, schema: MessageSchema): string[] {
  const check = new ConfigCheck();
  check.value(config, rootShape(schema), "");
  return check.errors;
}

/** One error stands alone, several are a list below `errors:`. */
export function joinedErrors(errors: readonly string[]): string {
  return errors.length === 1 ? (errors[0] ?? "") : ["errors:", ...errors.map((error) => `  ${error}`)].join("\n");
}

class ConfigCheck {
  readonly errors: string[] = [];

  value(value: JsonValue, shape: Shape, path: string): void {
    if (value === null) return;
    switch (shape.kind) {
      case "free":
        return;
      case "scalar":
      case "atomic":
        this.typed(value, shape.type, path);
        return;
      case "struct":
        this.struct(value, shape.plan(), path);
        return;
      case "map":
        if (!isJsonObject(value)) this.wrong(path, "map", value);
        else for (const name of Object.keys(value)) this.value(getMember(value, name) ?? null, shape.of, path + memberText(name));
        return;
      case "keyed":
      case "set":
        if (!Array.isArray(value)) this.wrong(path, "list", value);
        else this.items(value, shape, path);
    }
  }

  private struct(value: JsonValue, plan: StructPlan, path: string): void {
    if (!isJsonObject(value)) {
      this.wrong(path, "map", value);
      return;
    }
    for (const name of Object.keys(value)) {
      const member = plan.byName.get(name);
      if (member) this.value(getMember(value, name) ?? null, member.shape, path + memberText(name));
      else this.report(`${path}${memberText(name)}: field not declared in schema`);
    }
  }

  private items(list: readonly JsonValue[], shape: ListShape, path: string): void {
    const seen = new Set<PathElement>();
    for (const [at, item] of list.entries()) {
      const element = itemElement(shape, item);
      if (element === undefined) {
        this.report(`${path}: element ${at}: ${whyUnkeyed(shape, item)}`);
        return;
      }
      if (seen.has(element)) this.report(`${path}: duplicate entries for key ${elementText(element)}`);
      seen.add(element);
      this.value(item, shape.of, path + elementText(element));
    }
  }

  /** A value whose schema demands more than its shape. */
  private typed(value: JsonValue, type: FieldType, path: string): void {
    switch (type.kind) {
      case "string":
      case "bytes":
        if (typeof value !== "string") this.report(`${path}: expected string, got &value.valueUnstructured{Value:${goSyntax(value)}}`);
        return;
      case "int32":
      case "int64":
        if (typeof value !== "number" && typeof value !== "bigint")
          this.report(`${path}: expected numeric (int or float), got ${goType(value)}`);
        return;
      case "bool":
        if (typeof value !== "boolean") this.report(`${path}: expected boolean, got &{${goText(value)}}`);
        return;
      case "list":
        if (!Array.isArray(value)) this.wrong(path, "list", value);
        else for (const [at, item] of value.entries()) if (item !== null) this.typed(item, type.of, `${path}[${at}]`);
        return;
      case "map":
        if (!isJsonObject(value)) this.wrong(path, "map", value);
        else for (const [name, item] of Object.entries(value)) if (item !== null) this.typed(item, type.of, path + memberText(name));
        return;
      case "message":
        this.value(value, rootShape(type.message()), path);
        return;
      case "time":
      case "microTime":
      case "intOrString":
      case "quantity":
        if (typeof value === "object") this.report(`${path}: expected any scalar, got &{${goText(value)}}`);
        return;
      case "fieldsV1":
    }
  }

  private wrong(path: string, wanted: string, value: JsonValue): void {
    this.report(`${path}: expected ${wanted}, got &{${goText(value)}}`);
  }

  private report(error: string): void {
    if (this.errors.length < ERRORS_MAX) this.errors.push(error);
  }
}

/** A step to a member, cut as all steps are. */
function memberText(name: string): string {
  return elementText(fieldElement(name));
}

function whyUnkeyed(shape: ListShape, item: JsonValue): string {
  if (shape.kind === "set") {
    if (item === null) return "associative list without keys has an element that's an explicit null";
    if (Array.isArray(item)) return "not supported: associative list with lists as elements";
    return "associative list without keys has an element that's a map type";
  }
  if (item === null) return "associative list with keys may not have a null element";
  if (!isJsonObject(item)) return "associative list with keys may not have non-map elements";
  const names = shape.keys.map((key) => JSON.stringify(key.name)).join(" ");
  return `associative list with keys has an element that omits all key fields [${names}] (and doesn't have default values for any key fields)`;
}

function goType(value: JsonValue): string {
  if (Array.isArray(value)) return "[]interface {}";
  if (typeof value === "object") return "map[string]interface {}";
  if (typeof value === "bigint") return "int64";
  return typeof value === "boolean" ? "bool" : typeof value === "number" ? "float64" : "string";
}

/** Go's %v */
function goText(value: JsonValue): string {
  if (value === null) return "<nil>";
  if (Array.isArray(value)) return `[${value.map(goText).join(" ")}]`;
  if (typeof value !== "object") return String(value);
  const names = Object.keys(value).sort();
  return `map[${names.map((name) => `${name}:${goText(getMember(value, name) ?? null)}`).join(" ")}]`;
}

/** Go's %#v */
function goSyntax(value: JsonValue): string {
  if (value === null) return "interface {}(nil)";
  if (typeof value !== "object") return JSON.stringify(value);
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(", ")}}`;
  const names = Object.keys(value).sort();
  return `map[string]interface {}{${names.map((name) => `${JSON.stringify(name)}:${goSyntax(getMember(value, name) ?? null)}`).join(", ")}}`;
}
