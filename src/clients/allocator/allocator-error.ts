/** Why an allocator gives out no address, with upstream's texts. */

/** Why no address was given out; upstream's names are ErrFull, ErrAllocated, ErrMismatchedNetwork, ErrNotInRange and ErrNotReady. */
export type AllocatorError =
  | { readonly reason: "full" | "allocated" | "mismatchedNetwork" | "notReady" }
  | { readonly reason: "notInRange"; readonly address: string; readonly cidr: string }
  /** the text is no IP address */
  | { readonly reason: "invalid"; readonly address: string }
  /** the records failed; their error as it was thrown */
  | { readonly reason: "records"; readonly error: unknown };

/** Upstream's text for an error (pkg/registry/core/service/ipallocator). */
export function allocatorErrorText(error: AllocatorError): string {
  switch (error.reason) {
    case "full":
      return "range is full";
    case "allocated":
      return "provided IP is already allocated";
    case "mismatchedNetwork":
      return "the provided network does not match the current range";
    case "notReady":
      return "allocator not ready";
    case "notInRange":
      return `the provided IP (${error.address}) is not in the valid range. The range of valid IPs is ${error.cidr}`;
    case "invalid":
      return `failed to parse service IP ${JSON.stringify(error.address)}`;
    case "records":
      return error.error instanceof Error ? error.error.message : String(error.error);
  }
}
