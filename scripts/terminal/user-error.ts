/** A fault that the user can correct. The message is the one line that the program prints. */
export class UserError extends Error {}
