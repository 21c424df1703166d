package dev.kagzi.sdk;

/** The results of branches of different types, in the order in which the branches were given. */
public final class Results {
  private Results() {}

  /** Of two branches. */
  public record Of2<A, B>(A first, B second) {}

  /** Of three branches. */
  public record Of3<A, B, C>(A first, B second, C third) {}

  /** Of four branches. */
  public record Of4<A, B, C, D>(A first, B second, C third, D fourth) {}

  /** Of five branches. */
  public record Of5<A, B, C, D, E>(A first, B second, C third, D fourth, E fifth) {}

  /** Of six branches. */
  public record Of6<A, B, C, D, E, F>(A first, B second, C third, D fourth, E fifth, F sixth) {}

  /** Of seven branches. */
  public record Of7<A, B, C, D, E, F, G>(
      A first, B second, C third, D fourth, E fifth, F sixth, G seventh) {}

  /** Of eight branches. */
  public record Of8<A, B, C, D, E, F, G, H>(
      A first, B second, C third, D fourth, E fifth, F sixth, G seventh, H eighth) {}
}
