package dev.kagzi.cli;

import com.google.protobuf.Message;
import dev.kagzi.protocol.v1.PageRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Spec.Target;

final class ListOptions {

  private static final int PAGE_SIZE_MAX = 100;

  @Spec(Target.MIXEE)
  private CommandSpec command = CommandSpec.create();

  @Option(
      names = "--limit",
      paramLabel = "N",
      defaultValue = "20",
      description = "The maximum number of items (default: ${DEFAULT-VALUE}).")
  private int limit;

  @Option(
      names = "--page-token",
      paramLabel = "TOKEN",
      defaultValue = "",
      description = "Continue an earlier list: its nextPageToken in JSON.")
  private String token = "";

  /** Reads pages until there are enough items. */
  <M extends Message> ListPart<M> read(Function<PageRequest, ListPart<M>> page) {
    if (limit < 1) {
      throw new ParameterException(
          command.commandLine(), "--limit: " + limit + " (expected: at least 1)");
    }
    return read(limit, token, page, item -> item);
  }

  static <M extends Message> ListPart<M> readAll(Function<PageRequest, ListPart<M>> page) {
    return readAll(page, item -> item);
  }

  /** Keeps of each item only what {@code reduce} returns. */
  static <M extends Message> ListPart<M> readAll(
      Function<PageRequest, ListPart<M>> page, UnaryOperator<M> reduce) {
    return read(Integer.MAX_VALUE, "", page, reduce);
  }

  private static <M extends Message> ListPart<M> read(
      int limit, String from, Function<PageRequest, ListPart<M>> page, UnaryOperator<M> reduce) {
    List<M> items = new ArrayList<>();
    String token = from;
    do {
      ListPart<M> part =
          page.apply(
              PageRequest.newBuilder()
                  .setPageSize(Math.min(PAGE_SIZE_MAX, limit - items.size()))
                  .setPageToken(token)
                  .build());
      part.items().forEach(item -> items.add(reduce.apply(item)));
      token = part.nextPageToken();
    } while (!token.isEmpty() && items.size() < limit);
    return new ListPart<>(items, token);
  }
}
