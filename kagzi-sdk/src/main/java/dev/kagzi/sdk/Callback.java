package dev.kagzi.sdk;

import java.time.Duration;
import java.util.Optional;

/**
 * A URL for an outside system, and the wait for its answer: {@link WorkflowContext#callback}.
 *
 * <pre>{@code
 * Callback<Payment> payment = ctx.callback("payment", Payment.class);
 * ctx.step("charge", () -> cards.charge(order, payment.url()));
 * Optional<Payment> paid = payment.await(Duration.ofDays(3));
 * }</pre>
 *
 * <p>{@code POST} of a JSON value to the URL completes the callback; {@code POST} to the URL
 * followed by {@code /fail} fails it. Only the first answer counts. Later requests get the same
 * response, even if they have another body.
 *
 * @param <T> the type of the value, which is never null
 */
public interface Callback<T> {
  /**
   * Returns the URL. It is the same in every replay and attempt of the run. Everyone who knows it
   * can answer the callback: pass it to the outside system only, and do not log it.
   */
  String url();

  /**
   * Returns the answer, or waits for it. A run that only waits takes no thread and no slot of a
   * worker. The wait is recorded as a step, {@code await:} and the name of the callback. Any number
   * of calls, in any branches, return the same answer.
   *
   * @throws CallbackFailedException if the outside system failed the callback
   */
  T await();

  /**
   * Like {@link #await()}, with a timeout that is stored once, as for a sleep. The timeout ends
   * only this wait, not the callback: a later {@code await} can return the answer. If the answer
   * arrives before the server has processed the timeout, the answer wins.
   *
   * @param timeout zero returns an answer that has already arrived, or empty
   * @return the value; empty if there was no answer in time
   */
  Optional<T> await(Duration timeout);
}
