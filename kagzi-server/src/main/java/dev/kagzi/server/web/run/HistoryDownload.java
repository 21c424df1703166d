package dev.kagzi.server.web.run;

import dev.kagzi.engine.page.Page;
import dev.kagzi.engine.page.PageSpec;
import dev.kagzi.engine.query.Queries;
import dev.kagzi.engine.query.RunView;
import dev.kagzi.engine.query.StepView;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.server.grpc.HistoryDocument;
import dev.kagzi.server.web.page.PageReply;
import dev.kagzi.server.web.page.PageRequest;

/** The history of a run as a file that the test kit replays. */
final class HistoryDownload {
  private static final int PAGE_SIZE = 100;
  private static final int BYTES_MAX = 64 * 1_024 * 1_024;

  private HistoryDownload() {}

  /** The run is read first: if it has ended, all of its steps are recorded by then. */
  static PageReply reply(PageRequest request) {
    Queries queries = request.engine().queries();
    RunId id = RunPages.id(request);
    RunView run = queries.run(request.namespace(), id);
    HistoryDocument document = new HistoryDocument(run);
    String token = "";
    do {
      PageSpec spec = new PageSpec(PAGE_SIZE, token, false, true);
      Page<StepView> page = queries.steps(request.namespace(), id, null, spec);
      page.items().forEach(document::add);
      token = page.nextToken();
      if (document.size() > BYTES_MAX) {
        throw Refusal.of(
            Refusal.Reason.RESOURCE_EXHAUSTED,
            "history",
            id.toString(),
            "history: more than "
                + BYTES_MAX
                + " bytes (expected: fewer for a download; use kagzi workflow export "
                + id
                + ")");
      }
    } while (!token.isEmpty());
    return new PageReply.Download(id + ".json", "application/json", document.finish());
  }
}
