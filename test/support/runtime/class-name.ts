/** The name of a class as its source has it. Where the product is one module and two classes share a name, one of them gets a number at its end. */
export function className({ name }: { readonly name: string }): string {
  return name.replace(/\d+$/, "");
}
