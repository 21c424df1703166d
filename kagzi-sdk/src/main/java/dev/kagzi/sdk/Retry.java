package dev.kagzi.sdk;

import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * How patiently a failed step, or a failed run, is tried again. The server does the counting and
 * the arithmetic: the delay before try {@code n + 1} is {@code initial x coefficient^(n - 1)}, at
 * most {@code max}, varied by a quarter to either side unless jitter is switched off.
 *
 * <p>Every error is tried again unless something says otherwise: the step throws a {@link
 * NonRetryableException}, or the policy excludes the error with {@code notOn} or leaves it out of
 * its {@code onlyOn}. What is excluded wins over what is included.
 *
 * <p>Immutable: each method returns a changed copy.
 */
public final class Retry {
  /** As many attempts as it takes. */
  public static final int UNLIMITED = -1;

  private static final Duration INITIAL = Duration.ofSeconds(1);
  private static final Duration MAX = Duration.ofSeconds(60);

  private final int attempts;
  private final Delays delays;
  private final Errors errors;

  private record Delays(
      Duration initial, double coefficient, Duration max, Optional<Double> jitter) {
    Delays {
      check(!initial.isNegative() && !initial.isZero(), "initial: " + initial + " (expected: > 0)");
      check(
          coefficient >= 1 && Double.isFinite(coefficient),
          "coefficient: " + coefficient + " (expected: >= 1.0)");
      check(
          max.compareTo(initial) >= 0, "max: " + max + " (expected: >= initial, " + initial + ")");
      jitter.ifPresent(
          share -> check(share >= 0 && share <= 1, "jitter: " + share + " (expected: 0.0 to 1.0)"));
    }
  }

  /** Which errors are tried again: all that are not fatal, of these kinds if there are any. */
  private record Errors(List<String> fatal, Set<ErrorKind> kinds) {
    static final Errors ANY = new Errors(List.of(), Set.of());

    Errors andFatal(Stream<String> more) {
      return new Errors(Stream.concat(fatal.stream(), more).distinct().toList(), kinds);
    }

    Errors andKinds(Set<ErrorKind> more) {
      EnumSet<ErrorKind> all = EnumSet.copyOf(more);
      all.addAll(kinds);
      return new Errors(fatal, Collections.unmodifiableSet(all));
    }
  }

  private Retry(int attempts, Delays delays, Errors errors) {
    check(
        attempts == UNLIMITED || attempts >= 1,
        "attempts: " + attempts + " (expected: >= 1, or Retry.UNLIMITED)");
    this.attempts = attempts;
    this.delays = delays;
    this.errors = errors;
  }

  /**
   * Growing delays: 1 s, 2 s, 4 s and so on up to a minute, unless said otherwise.
   *
   * @param attempts how often the code is executed at most, the first time included; {@link
   *     #UNLIMITED} for no limit
   */
  public static Retry exponential(int attempts) {
    return new Retry(attempts, new Delays(INITIAL, 2.0, MAX, Optional.empty()), Errors.ANY);
  }

  /** The same delay each time. */
  public static Retry fixed(int attempts, Duration delay) {
    return new Retry(attempts, new Delays(delay, 1.0, delay, Optional.empty()), Errors.ANY);
  }

  /** The first failure is final. */
  public static Retry none() {
    return new Retry(1, new Delays(INITIAL, 1.0, MAX, Optional.empty()), Errors.ANY);
  }

  /** The delay before the second attempt; raises {@link #max(Duration)} when that is shorter. */
  public Retry initial(Duration delay) {
    Duration cap = max().compareTo(delay) < 0 ? delay : max();
    return with(new Delays(delay, coefficient(), cap, jitter()));
  }

  /** By how much the delay grows each time; 1.0 for not at all. */
  public Retry coefficient(double factor) {
    return with(new Delays(initial(), factor, max(), jitter()));
  }

  /** The longest delay, jitter included. */
  public Retry max(Duration delay) {
    return with(new Delays(initial(), coefficient(), delay, jitter()));
  }

  /** Switches the variation of delays off, or back to the server's default. */
  public Retry jitter(boolean on) {
    Optional<Double> share = on ? Optional.empty() : Optional.of(0.0);
    return with(new Delays(initial(), coefficient(), max(), share));
  }

  /** By which share a delay varies to either side, from 0.0 to 1.0. */
  public Retry jitter(double share) {
    return with(new Delays(initial(), coefficient(), max(), Optional.of(share)));
  }

  /**
   * Failures of this type are final at once, and so are those of its subclasses: each failure is
   * recorded with the classes that its own extends. Causes are not looked at. May be called several
   * times.
   */
  public Retry notOn(Class<? extends Throwable> type) {
    check(
        type != Throwable.class,
        "type: java.lang.Throwable (expected: some of them; Retry.none() retries nothing)");
    return with(errors.andFatal(Stream.of(type.getName())));
  }

  /** Failures of these kinds are final at once. May be called several times. */
  public Retry notOn(ErrorKind kind, ErrorKind... more) {
    return with(errors.andFatal(kinds(kind, more).stream().map(ErrorKind::name)));
  }

  /**
   * Failures whose message begins so are final at once: for errors of one class that only their
   * text tells apart. May be called several times.
   */
  public Retry notOnMessage(String prefix) {
    check(!prefix.isBlank(), "prefix: \"" + prefix + "\" (expected: not blank)");
    return with(errors.andFatal(Stream.of(prefix)));
  }

  /** Only failures of these kinds are tried again. May be called several times, each adding. */
  public Retry onlyOn(ErrorKind kind, ErrorKind... more) {
    return with(errors.andKinds(kinds(kind, more)));
  }

  /** Only failures of a {@linkplain ErrorKind#isRetryable() retryable} kind are tried again. */
  public Retry onlyOnRetryable() {
    EnumSet<ErrorKind> retryable = EnumSet.allOf(ErrorKind.class);
    retryable.removeIf(kind -> !kind.isRetryable());
    return with(errors.andKinds(retryable));
  }

  private static Set<ErrorKind> kinds(ErrorKind kind, ErrorKind... more) {
    EnumSet<ErrorKind> kinds = EnumSet.of(kind);
    kinds.addAll(Arrays.asList(more));
    return kinds;
  }

  private Retry with(Delays delays) {
    return new Retry(attempts, delays, errors);
  }

  private Retry with(Errors errors) {
    return new Retry(attempts, delays, errors);
  }

  public int attempts() {
    return attempts;
  }

  public Duration initial() {
    return delays.initial;
  }

  public double coefficient() {
    return delays.coefficient;
  }

  public Duration max() {
    return delays.max;
  }

  /** Empty: the server's default. */
  public Optional<Double> jitter() {
    return delays.jitter;
  }

  /** What is not tried again: names of classes, names of kinds, beginnings of messages. */
  public List<String> fatalErrors() {
    return errors.fatal;
  }

  /** The kinds that are tried again; empty: any. */
  public Set<ErrorKind> onlyKinds() {
    return errors.kinds;
  }

  /** {@code 5 attempts, after 1 s x 2.0 up to 60 s, not on java.io.IOException}. */
  @Override
  public String toString() {
    if (attempts == 1) {
      return "1 attempt";
    }
    return (attempts == UNLIMITED ? "unlimited" : attempts)
        + " attempts, after "
        + seconds(initial())
        + (coefficient() == 1 ? "" : " x " + coefficient() + " up to " + seconds(max()))
        + jitter().map(share -> ", jitter " + share).orElse("")
        + (errors.fatal.isEmpty() ? "" : ", not on " + String.join(", ", errors.fatal))
        + (errors.kinds.isEmpty() ? "" : ", only on " + errors.kinds);
  }

  private static String seconds(Duration time) {
    return time.toMillis() % 1_000 == 0 ? time.toSeconds() + " s" : time.toMillis() + " ms";
  }

  private static void check(boolean holds, String message) {
    if (!holds) {
      throw new IllegalArgumentException(message);
    }
  }
}
