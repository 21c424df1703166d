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
 * A retry policy for steps and runs: how often, after which delays, and after which errors to
 * retry.
 *
 * <pre>{@code
 * Retry.exponential(5).initial(Duration.ofMillis(200)).notOn(CardDeclined.class)
 * }</pre>
 *
 * <p>The server applies it. The delay before attempt {@code n + 1} is {@code initial x
 * coefficient^(n - 1)}, varied at random by the {@linkplain #jitter(double) jitter} (25 % by
 * default), and at most {@code max}.
 *
 * <p>Every error is retried, except {@link NonRetryableException}, {@link PayloadException}, {@link
 * ContextMisuseException}, and errors that the policy excludes. If an error matches both {@code
 * notOn} and {@code onlyOn}, it is not retried.
 *
 * <p>Immutable: each setter returns a changed copy. Values out of range throw {@link
 * IllegalArgumentException} here; the server rejects coefficients above 1000 and delays above 365
 * days.
 */
public final class Retry {
  /** No limit on the number of attempts. */
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

  /** Retried: errors that are not fatal and, if {@code kinds} is not empty, of these kinds. */
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
   * Returns a policy with exponential delays: 1 s, 2 s, 4 s and so on up to 60 s, unless changed.
   *
   * @param attempts maximum number of attempts, including the first; {@link #UNLIMITED} for no
   *     limit
   */
  public static Retry exponential(int attempts) {
    return new Retry(attempts, new Delays(INITIAL, 2.0, MAX, Optional.empty()), Errors.ANY);
  }

  /**
   * Returns a policy whose delay does not grow. Jitter makes it up to 25 % shorter, but never
   * longer; {@code jitter(false)} makes it exact.
   *
   * @param attempts maximum number of attempts, including the first; {@link #UNLIMITED} for no
   *     limit
   */
  public static Retry fixed(int attempts, Duration delay) {
    return new Retry(attempts, new Delays(delay, 1.0, delay, Optional.empty()), Errors.ANY);
  }

  /** Returns a policy without retries: the first failure is final. */
  public static Retry none() {
    return new Retry(1, new Delays(INITIAL, 1.0, MAX, Optional.empty()), Errors.ANY);
  }

  /**
   * Sets the delay before the second attempt. If {@link #max(Duration)} is shorter, it is raised to
   * this delay.
   */
  public Retry initial(Duration delay) {
    Duration cap = max().compareTo(delay) < 0 ? delay : max();
    return with(new Delays(delay, coefficient(), cap, jitter()));
  }

  /** Sets the factor by which the delay grows with each attempt; 1.0 keeps it constant. */
  public Retry coefficient(double factor) {
    return with(new Delays(initial(), factor, max(), jitter()));
  }

  /** Sets the longest delay, including jitter. */
  public Retry max(Duration delay) {
    return with(new Delays(initial(), coefficient(), delay, jitter()));
  }

  /** Switches jitter off, or back to the server's default. */
  public Retry jitter(boolean on) {
    Optional<Double> share = on ? Optional.empty() : Optional.of(0.0);
    return with(new Delays(initial(), coefficient(), max(), share));
  }

  /**
   * Sets the jitter as a fraction of the delay, from 0.0 to 1.0. With 0.25, a delay is up to 25 %
   * shorter or longer.
   */
  public Retry jitter(double share) {
    return with(new Delays(initial(), coefficient(), max(), Optional.of(share)));
  }

  /**
   * Does not retry exceptions of this class and its subclasses, or exceptions whose message begins
   * with the class name. So {@code new RuntimeException(cause)}, whose message begins with the
   * cause's class, matches too. Causes are not examined otherwise. Further calls add classes.
   */
  public Retry notOn(Class<? extends Throwable> type) {
    check(
        type != Throwable.class,
        "type: java.lang.Throwable (expected: some of them; Retry.none() retries nothing)");
    return with(errors.andFatal(Stream.of(type.getName())));
  }

  /**
   * Does not retry errors of these kinds. Also matches errors whose message begins with the kind's
   * name. Further calls add kinds.
   */
  public Retry notOn(ErrorKind kind, ErrorKind... more) {
    return with(errors.andFatal(kinds(kind, more).stream().map(ErrorKind::name)));
  }

  /**
   * Does not retry errors whose message starts with the prefix. Use it for errors that differ only
   * in their message. Further calls add prefixes.
   */
  public Retry notOnMessage(String prefix) {
    check(!prefix.isBlank(), "prefix: \"" + prefix + "\" (expected: not blank)");
    return with(errors.andFatal(Stream.of(prefix)));
  }

  /** Retries only errors of these kinds. Further calls add kinds. */
  public Retry onlyOn(ErrorKind kind, ErrorKind... more) {
    return with(errors.andKinds(kinds(kind, more)));
  }

  /** Retries only errors of a {@linkplain ErrorKind#isRetryable() retryable} kind. */
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

  /** Returns the maximum number of attempts, including the first, or {@link #UNLIMITED}. */
  public int attempts() {
    return attempts;
  }

  /** Returns the delay before the second attempt. */
  public Duration initial() {
    return delays.initial;
  }

  /** Returns the factor by which the delay grows. */
  public double coefficient() {
    return delays.coefficient;
  }

  /** Returns the longest delay. */
  public Duration max() {
    return delays.max;
  }

  /** Returns the jitter; empty for the server's default. */
  public Optional<Double> jitter() {
    return delays.jitter;
  }

  /** Returns which errors are not retried: class names, names of kinds, and message prefixes. */
  public List<String> fatalErrors() {
    return errors.fatal;
  }

  /** Returns the only kinds that are retried; empty if every kind is. */
  public Set<ErrorKind> onlyKinds() {
    return errors.kinds;
  }

  /** For example {@code 5 attempts, after 1 s x 2.0 up to 60 s, not on java.io.IOException}. */
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
