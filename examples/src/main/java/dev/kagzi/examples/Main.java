package dev.kagzi.examples;

import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.KagziException;
import java.util.LinkedHashMap;
import java.util.Map;

/** Runs the examples by name. */
public final class Main {
  private static final String ADDRESS = "127.0.0.1:50051";

  private Main() {}

  static Map<String, Example> examples() {
    Map<String, Example> all = new LinkedHashMap<>();
    all.put("order", new OrderExample());
    all.put("flaky", new FlakyGatewayExample());
    all.put("bulk", new BulkExample());
    all.put("saga", new SagaExample());
    all.put("handler", new HandlerExample());
    all.put("fan-out", new FanOutExample());
    all.put("child", new ChildExample());
    return all;
  }

  /** {@code example NAME [HOST:PORT]}. */
  public static void main(String[] args) {
    System.exit(run(args));
  }

  private static int run(String[] args) {
    Example example = args.length == 0 ? null : examples().get(args[0]);
    if (example == null) {
      System.err.println("usage: ./kagzi example NAME [HOST:PORT]   (default " + ADDRESS + ")");
      examples().forEach((name, each) -> System.err.printf("  %-8s %s%n", name, each.about()));
      return 2;
    }
    String address = args.length > 1 ? args[1] : ADDRESS;
    try (Kagzi kagzi = Kagzi.connect(address)) {
      System.out.println(example.run(kagzi));
      return 0;
    } catch (KagziException e) {
      System.err.println("example " + args[0] + ": " + e.getMessage());
      return 1;
    }
  }
}
