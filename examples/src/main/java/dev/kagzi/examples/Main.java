package dev.kagzi.examples;

import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.KagziException;
import dev.kagzi.sdk.RequestRefusedException;
import java.io.PrintStream;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Runs the examples by name. */
public final class Main {
  static final String NAMESPACE = "default";

  private static final int USAGE = 2;
  private static final int UNREACHABLE = 4;

  private Main() {}

  static Map<String, Example> examples() {
    Map<String, Example> all = new LinkedHashMap<>();
    all.put("order", new OrderExample());
    all.put("flaky", new FlakyGatewayExample());
    all.put("bulk", new BulkExample());
    all.put("saga", new SagaExample());
    all.put("order-saga", new OrderSagaExample());
    all.put("order-cancel", new OrderCancelExample());
    all.put("handler", new HandlerExample());
    all.put("schedule", new ScheduleExample());
    all.put("fan-out", new FanOutExample());
    all.put("child", new ChildExample());
    all.put("approval", new ApprovalExample());
    all.put("agent", new AgentExample());
    all.put("webhook", new WebhookExample());
    all.put("account", new AccountExample());
    all.put("transfer", new TransferExample());
    return all;
  }

  /** Runs {@code example NAME [--address HOST:PORT]}. */
  public static void main(String[] args) {
    Console console = new Console(System.out, System.err);
    System.exit(run(List.of(args), System.getenv(), console));
  }

  /** Where the program prints. */
  record Console(PrintStream out, PrintStream err) {}

  static int run(List<String> args, Map<String, String> environment, Console console) {
    Arguments arguments = Arguments.parse(args, environment);
    Example example = arguments == null ? null : examples().get(arguments.name());
    if (arguments == null || example == null) {
      console.err.println(
          "usage: ./kagzi example NAME [--address HOST:PORT]   (default "
              + Arguments.ADDRESS
              + ", or KAGZI_ADDRESS)");
      examples().forEach((name, each) -> console.err.printf("  %-10s %s%n", name, each.about()));
      return USAGE;
    }
    if (!arguments.isAnswering()) {
      console.err.printf(
          "example %s: server: %s does not answer (expected: a running server; start one with ./kagzi dev,"
              + " or pass --address HOST:PORT)%n",
          arguments.name(), arguments.address());
      return UNREACHABLE;
    }
    try (Kagzi kagzi = connect(arguments.address(), example)) {
      console.out.println(example.run(kagzi));
      return 0;
    } catch (KagziException e) {
      console.err.println("example " + arguments.name() + ": " + e.getMessage());
      return 1;
    }
  }

  /** Connects a client to the example's namespace, which is created if it does not exist. */
  static Kagzi connect(String address, Example example) {
    Kagzi kagzi = Kagzi.builder().address(address).namespace(example.namespace()).connect();
    if (!example.namespace().equals(NAMESPACE)) {
      try {
        kagzi.namespaces().create(example.namespace());
      } catch (RequestRefusedException e) {
        // It exists from an earlier run of the example.
        if (!e.code().equals("ALREADY_EXISTS")) {
          kagzi.close();
          throw e;
        }
      }
    }
    return kagzi;
  }
}
