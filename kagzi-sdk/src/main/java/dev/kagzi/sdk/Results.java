package dev.kagzi.sdk;

/**
 * The results of branches with different types, in the order of the branches: {@link
 * WorkflowContext#parallel(String, Branch, Branch)}.
 */
public final class Results {
  private Results() {}

  /** Results of two branches. */
  public record Of2<A, B>(A first, B second) {}

  /** Results of three branches. */
  public record Of3<A, B, C>(A first, B second, C third) {}

  /** Results of four branches. */
  public record Of4<A, B, C, D>(A first, B second, C third, D fourth) {}

  /** Results of five branches. */
  public record Of5<A, B, C, D, E>(A first, B second, C third, D fourth, E fifth) {}

  /** Results of six branches. */
  public record Of6<A, B, C, D, E, F>(A first, B second, C third, D fourth, E fifth, F sixth) {}

  /** Results of seven branches. */
  public record Of7<A, B, C, D, E, F, G>(
      A first, B second, C third, D fourth, E fifth, F sixth, G seventh) {}

  /** Results of eight branches. */
  public record Of8<A, B, C, D, E, F, G, H>(
      A first, B second, C third, D fourth, E fifth, F sixth, G seventh, H eighth) {}
}
