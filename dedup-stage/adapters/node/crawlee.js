// Crawlee: in place of context.enqueueLinks().

export async function enqueueUniqueLinks(stage, context, options = {}) {
    const { request, body, contentType, response } = context;
    const answer = await stage.judge({
        url: request.loadedUrl ?? request.url,
        body,
        contentType: contentType?.type,
        status: response?.statusCode,
    });
    const urls = (answer.links ?? []).map((link) => link.url);
    if (urls.length > 0) await context.enqueueLinks({ ...options, urls });
    return answer;
}
