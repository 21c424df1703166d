package dev.kagzi.sdk;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * How patiently a failed step, or a failed run, is tried again. The server does the counting and
 * the arithmetic: the delay before try {@code n + 1} is {@code initial x coefficient^(n - 1)}, at
 * most {@code max}, varied by a quarter to either side unless jitter is switched off.
 *
 * <p>Immutable: each method returns a changed copy.
 */
public final class Retry {
  /** As many attempts as it takes. */
  public static final int UNLIMITED = -1;

  private static final Duration INITIAL = Duration.ofSeconds(1);
  private static final Duration MAX = Duration.ofSeconds(60);

  private final int attempts;
  private final Duration initial;
  private final double coefficient;
  private final Duration max;
  private final Optional<Double> jitter;
  private final List<String> fatalTypes;

  private Retry(
      int attempts,
      Duration initial,
      double coefficient,
      Duration max,
      Optional<Double> jitter,
      List<String> fatalTypes) {
    check(
        attempts == UNLIMITED || attempts >= 1,
        "attempts: " + attempts + " (expected: >= 1, or Retry.UNLIMITED)");
    check(!initial.isNegative() && !initial.isZero(), "initial: " + initial + " (expected: > 0)");
    check(
        coefficient >= 1 && Double.isFinite(coefficient),
        "coefficient: " + coefficient + " (expected: >= 1.0)");
    check(max.compareTo(initial) >= 0, "max: " + max + " (expected: >= initial, " + initial + ")");
    jitter.ifPresent(
        share -> check(share >= 0 && share <= 1, "jitter: " + share + " (expected: 0.0 to 1.0)"));
    this.attempts = attempts;
    this.initial = initial;
    this.coefficient = coefficient;
    this.max = max;
    this.jitter = jitter;
    this.fatalTypes = fatalTypes;
  }

  /**
   * Growing delays: 1 s, 2 s, 4 s and so on up to a minute, unless said otherwise.
   *
   * @param attempts how often the code is executed at most, the first time included; {@link
   *     #UNLIMITED} for no limit
   */
  public static Retry exponential(int attempts) {
    return new Retry(attempts, INITIAL, 2.0, MAX, Optional.empty(), List.of());
  }

  /** The same delay each time. */
  public static Retry fixed(int attempts, Duration delay) {
    return new Retry(attempts, delay, 1.0, delay, Optional.empty(), List.of());
  }

  /** The first failure is final. */
  public static Retry none() {
    return new Retry(1, INITIAL, 1.0, MAX, Optional.empty(), List.of());
  }

  /** The delay before the second attempt; raises {@link #max(Duration)} when that is shorter. */
  public Retry initial(Duration delay) {
    Duration cap = max.compareTo(delay) < 0 ? delay : max;
    return new Retry(attempts, delay, coefficient, cap, jitter, fatalTypes);
  }

  /** By how much the delay grows each time; 1.0 for not at all. */
  public Retry coefficient(double factor) {
    return new Retry(attempts, initial, factor, max, jitter, fatalTypes);
  }

  /** The longest delay, jitter included. */
  public Retry max(Duration delay) {
    return new Retry(attempts, initial, coefficient, delay, jitter, fatalTypes);
  }

  /** Switches the variation of delays off, or back to the server's default. */
  public Retry jitter(boolean on) {
    Optional<Double> share = on ? Optional.empty() : Optional.of(0.0);
    return new Retry(attempts, initial, coefficient, max, share, fatalTypes);
  }

  /** By which share a delay varies to either side, from 0.0 to 1.0. */
  public Retry jitter(double share) {
    return new Retry(attempts, initial, coefficient, max, Optional.of(share), fatalTypes);
  }

  /** Failures of exactly this type are final at once. May be called several times. */
  public Retry notOn(Class<? extends Throwable> type) {
    List<String> types = new ArrayList<>(fatalTypes);
    types.add(type.getName());
    return new Retry(attempts, initial, coefficient, max, jitter, List.copyOf(types));
  }

  public int attempts() {
    return attempts;
  }

  public Duration initial() {
    return initial;
  }

  public double coefficient() {
    return coefficient;
  }

  public Duration max() {
    return max;
  }

  /** Empty: the server's default. */
  public Optional<Double> jitter() {
    return jitter;
  }

  /** Names of the exception classes that are not tried again. */
  public List<String> fatalTypes() {
    return fatalTypes;
  }

  private static void check(boolean holds, String message) {
    if (!holds) {
      throw new IllegalArgumentException(message);
    }
  }
}
