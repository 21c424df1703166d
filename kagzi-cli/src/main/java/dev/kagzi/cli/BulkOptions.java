package dev.kagzi.cli;

import picocli.CommandLine.Option;

/** How a command acts on all runs that match its filters. */
final class BulkOptions {
  static final int CONCURRENCY_MAX = 64;

  @Option(
      names = "--all-matching",
      description = "Acts on all runs that match the filters, instead of the given ones.")
  boolean allMatching;

  @Option(
      names = "--dry-run",
      description = "With --all-matching: only prints how many runs match, and some of them.")
  boolean dryRun;

  @Option(
      names = "--concurrency",
      paramLabel = "N",
      defaultValue = "8",
      description = "How many calls are made at once, 1 to 64 (default: ${DEFAULT-VALUE}).")
  int concurrency;
}
