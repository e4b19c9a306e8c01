/**
 * Whether a JSON value is what a published OpenAPI 3.0 schema says: the part of JSON Schema that the documents use, and nothing that
 * is not described is let through. A null member is there and without a value: so Go shows times that are not set.
 */
type Json = Record<string, unknown>;

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

export interface ValidatorOptions {
  /** false = only what decoding checks too: enums and required members are left to validation */
  strict: boolean;
}

export class OpenApiValidator {
  constructor(
    private readonly schemas: Readonly<Record<string, Json>>,
    private readonly options: ValidatorOptions = { strict: true },
  ) {}

  /** What is wrong with `value` as the named component; empty = nothing. */
  errors(component: string, value: unknown): string[] {
    const found: string[] = [];
    this.#check({ $ref: `#/components/schemas/${component}` }, value, "", found);
    return found;
  }

  #check(schema: Json, value: unknown, path: string, found: string[]): void {
    if (typeof schema["$ref"] === "string") {
      const target = this.schemas[schema["$ref"].replace("#/components/schemas/", "")];
      if (!target) found.push(`${path}: no component ${schema["$ref"]}`);
      else this.#check(target, value, path, found);
      return;
    }
    for (const part of (schema["allOf"] ?? []) as Json[]) this.#check(part, value, path, found);
    const alternatives = schema["oneOf"] as Json[] | undefined;
    if (alternatives && alternatives.filter((one) => this.#fits(one, value)).length !== 1) found.push(`${path}: fits not exactly one form`);
    this.#type(schema, value, path, found);
    if (this.options.strict && schema["enum"] && !(schema["enum"] as unknown[]).includes(value)) found.push(`${path}: not of the enum`);
  }

  #fits(schema: Json, value: unknown): boolean {
    const found: string[] = [];
    this.#check(schema, value, "", found);
    return found.length === 0;
  }

  #type(schema: Json, value: unknown, path: string, found: string[]): void {
    switch (schema["type"]) {
      case "string":
        if (typeof value !== "string") found.push(`${path}: no string`);
        else if (schema["format"] === "date-time" && !TIME.test(value)) found.push(`${path}: no time`);
        return;
      case "integer":
        if (!Number.isInteger(value)) found.push(`${path}: no integer`);
        else if (schema["format"] === "int32" && (value as number) !== ((value as number) | 0)) found.push(`${path}: no int32`);
        return;
      case "number":
        if (typeof value !== "number") found.push(`${path}: no number`);
        return;
      case "boolean":
        if (typeof value !== "boolean") found.push(`${path}: no boolean`);
        return;
      case "array":
        if (!Array.isArray(value)) found.push(`${path}: no array`);
        else value.forEach((item, i) => this.#check(schema["items"] as Json, item, `${path}[${String(i)}]`, found));
        return;
      case "object":
        if (typeof value !== "object" || value === null || Array.isArray(value)) found.push(`${path}: no object`);
        else this.#object(schema, value as Json, path, found);
    }
  }

  #object(schema: Json, value: Json, path: string, found: string[]): void {
    const properties = schema["properties"] as Record<string, Json> | undefined;
    const others = schema["additionalProperties"] as Json | undefined;
    for (const [name, member] of Object.entries(value)) {
      if (member === null) continue;
      const property = properties && Object.hasOwn(properties, name) ? properties[name] : others;
      if (property) this.#check(property, member, `${path}.${name}`, found);
      // a schema of an object without members lets all through
      else if (properties) found.push(`${path}.${name}: not described`);
    }
    if (!this.options.strict) return;
    for (const name of (schema["required"] ?? []) as string[]) {
      if (value[name] === undefined) found.push(`${path}.${name}: missing`);
    }
  }
}
