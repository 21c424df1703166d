package dev.kagzi.torture;

/** Faults that a test plants into the workers of the bank, to see that the checker finds them. */
enum BankPlant {
  /** The workers use Kagzi as documented. */
  NONE,
  /** The result of a step is stored after the transaction of its effects, in another one. */
  RESULT_OUTSIDE,
  /** The result is stored in the transaction of its effects, but nothing fences stale workers. */
  NO_FENCE,
  /** The relay deletes rows of the outbox before it sends them. */
  SENT_EARLY
}
