/**
 * Go's errors for a text that is not JSON (encoding/json scanner.go). Runs only after JSON.parse has refused the text.
 */

const END = "unexpected end of JSON input";

/** Go's words for a text that JSON.parse refused (encoding/json scanner): where it ends too early or which character is wrong. */
export function syntaxError(text: string): string {
  return new SyntaxReader(text).read() ?? END;
}

/** A JSON recogniser on an explicit stack, so that depth costs memory and never the call stack. */
class SyntaxReader {
  private at = 0;
  private readonly open: ("{" | "[")[] = [];

  constructor(private readonly text: string) {}

  read(): string | undefined {
    let wrong = this.begin("looking for beginning of value");
    while (wrong === undefined) {
      const top = this.open.at(-1);
      const next = this.peek();
      if (top === undefined) return next === "" ? undefined : this.invalid("after top-level value");
      if (next === "") return END;
      this.at++;
      if (next === (top === "{" ? "}" : "]")) this.open.pop();
      else if (next === ",") wrong = (top === "{" ? this.key() : undefined) ?? this.begin("looking for beginning of value");
      else {
        this.at--;
        return this.invalid(top === "{" ? "after object key:value pair" : "after array element");
      }
    }
    return wrong;
  }

  /** Reads a scalar, or the opening of a container up to its first scalar. */
  private begin(context: string): string | undefined {
    for (;;) {
      const first = this.peek();
      if (first === "") return END;
      if (first === '"') return this.string();
      if (first === "-" || (first >= "0" && first <= "9")) return this.number();
      if (first === "t" || first === "f" || first === "n") return this.literal(first === "t" ? "true" : first === "f" ? "false" : "null");
      if (first !== "{" && first !== "[") return this.invalid(context);
      this.at++;
      const next = this.peek();
      if (next === (first === "{" ? "}" : "]")) {
        this.at++;
        return undefined;
      }
      this.open.push(first);
      if (first !== "{") continue;
      const wrong = this.key();
      if (wrong !== undefined) return wrong;
    }
  }

  /** Reads `"name":`. */
  private key(): string | undefined {
    const first = this.peek();
    if (first === "") return END;
    if (first !== '"') return this.invalid("looking for beginning of object key string");
    const wrong = this.string();
    if (wrong !== undefined) return wrong;
    const next = this.peek();
    if (next === "") return END;
    if (next !== ":") return this.invalid("after object key");
    this.at++;
    return undefined;
  }

  private string(): string | undefined {
    for (this.at++; this.at < this.text.length; this.at++) {
      const char = this.text.charAt(this.at);
      if (char === '"') {
        this.at++;
        return undefined;
      }
      if (char < " ") return this.invalid("in string literal");
      if (char !== "\\") continue;
      this.at++;
      const escape = this.text.charAt(this.at);
      if (escape === "u") {
        for (let i = 0; i < 4; i++) {
          this.at++;
          if (this.at >= this.text.length) return END;
          if (!/[0-9a-fA-F]/.test(this.text.charAt(this.at))) return this.invalid("in \\u hexadecimal character escape");
        }
      } else if (escape !== "" && !'"\\/bfnrt'.includes(escape)) return this.invalid("in string escape code");
    }
    return END;
  }

  private number(): string | undefined {
    if (this.text.charAt(this.at) === "-") this.at++;
    if (this.text.charAt(this.at) === "0") this.at++;
    else if (!this.digits()) return this.at >= this.text.length ? END : this.invalid("in numeric literal");
    if (this.text.charAt(this.at) === ".") {
      this.at++;
      if (!this.digits()) return this.at >= this.text.length ? END : this.invalid("after decimal point in numeric literal");
    }
    if (this.text.charAt(this.at) === "e" || this.text.charAt(this.at) === "E") {
      this.at++;
      if (this.text.charAt(this.at) === "+" || this.text.charAt(this.at) === "-") this.at++;
      if (!this.digits()) return this.at >= this.text.length ? END : this.invalid("in exponent of numeric literal");
    }
    return undefined;
  }

  private digits(): boolean {
    const start = this.at;
    while (this.text.charAt(this.at) >= "0" && this.text.charAt(this.at) <= "9") this.at++;
    return this.at > start;
  }

  private literal(word: string): string | undefined {
    for (let i = 1; i < word.length; i++) {
      this.at++;
      if (this.at >= this.text.length) return END;
      if (this.text.charAt(this.at) !== word.charAt(i)) return this.invalid(`in literal ${word} (expecting '${word.charAt(i)}')`);
    }
    this.at++;
    return undefined;
  }

  private invalid(context: string): string {
    const char = this.text.charAt(this.at);
    const shown = char === "'" ? "'\\''" : `'${JSON.stringify(char).slice(1, -1).replace('\\"', '"')}'`;
    return `invalid character ${shown} ${context}`;
  }

  private peek(): string {
    while (this.at < this.text.length && " \t\r\n".includes(this.text.charAt(this.at))) this.at++;
    return this.text.charAt(this.at);
  }
}
