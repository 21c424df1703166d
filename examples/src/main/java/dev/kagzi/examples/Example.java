package dev.kagzi.examples;

import dev.kagzi.sdk.Kagzi;

/** Something that can be tried on a server. */
interface Example {
  /** What it shows, in one line. */
  String about();

  /** Whose runs it has. */
  default String namespace() {
    return Main.NAMESPACE;
  }

  /** Runs it to its end and returns what came out. */
  String run(Kagzi kagzi);
}
