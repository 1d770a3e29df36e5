// A config that cannot become bootstrap data, with what to change in it.

export class BootstrapInputInvalid extends Error {
  readonly code = "BootstrapInputInvalid";
}
