package dev.kagzi.examples;

import dev.kagzi.sdk.Kagzi;

/** An example that can be run on a server. */
interface Example {
  /** What it shows, in one line. */
  String about();

  /** The namespace of its runs. */
  default String namespace() {
    return Main.NAMESPACE;
  }

  /** Runs the example and returns its result as text. */
  String run(Kagzi kagzi);
}
