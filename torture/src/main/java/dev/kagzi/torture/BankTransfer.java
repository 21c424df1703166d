package dev.kagzi.torture;

import dev.kagzi.sdk.Signal;
import dev.kagzi.sdk.WorkflowType;
import java.util.Random;

/**
 * A transfer between two accounts of the bank; the input of its run.
 *
 * @param needsApproval whether the run waits for a signal between the debit and the credit
 */
record BankTransfer(int number, int from, int to, int amount, boolean needsApproval) {
  static final int ACCOUNTS = 1_000;
  static final int INITIAL_AMOUNT = 1_000;

  static final WorkflowType<BankTransfer, String> TYPE =
      WorkflowType.of("bank-transfer", BankTransfer.class, String.class).queue("bank");
  static final Signal<String> APPROVAL = Signal.of("approval", String.class);

  private static final int APPROVED_EVERY = 3;

  static BankTransfer random(int number, Random random, boolean approvals) {
    int from = 1 + random.nextInt(ACCOUNTS);
    int to = 1 + (from + random.nextInt(ACCOUNTS - 1)) % ACCOUNTS;
    boolean needsApproval = approvals && number % APPROVED_EVERY == 0;
    return new BankTransfer(number, from, to, 1 + random.nextInt(100), needsApproval);
  }

  /** The id of its start. */
  String id() {
    return "transfer-" + number;
  }

  /** The two halves of a transfer, each a step of its run. */
  enum Leg {
    DEBIT,
    CREDIT;

    int account(BankTransfer transfer) {
      return this == DEBIT ? transfer.from : transfer.to;
    }

    int amount(BankTransfer transfer) {
      return this == DEBIT ? -transfer.amount : transfer.amount;
    }
  }
}
