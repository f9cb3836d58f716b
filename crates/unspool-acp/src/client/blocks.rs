//! What is said to an agent, in blocks that it takes.

use agent_client_protocol_schema::v1::{
    ContentBlock, EmbeddedResourceResource, ResourceLink, TextContent,
};

use crate::agent_state::Capabilities;

/// The blocks of a message, with those that the agent does not take put in a
/// form that every agent takes: a file becomes a link, a picture a few words.
pub(super) fn fitting(blocks: &[ContentBlock], can: Capabilities) -> Vec<ContentBlock> {
    blocks
        .iter()
        .map(|block| match block {
            ContentBlock::Image(_) if !can.image => {
                words("[a picture, which this agent does not take]")
            }
            ContentBlock::Audio(_) if !can.audio => {
                words("[a sound, which this agent does not take]")
            }
            ContentBlock::Resource(resource) if !can.embedded => match &resource.resource {
                EmbeddedResourceResource::TextResourceContents(text) => link(&text.uri),
                EmbeddedResourceResource::BlobResourceContents(blob) => link(&blob.uri),
                _ => block.clone(),
            },
            block => block.clone(),
        })
        .collect()
}

fn words(text: &str) -> ContentBlock {
    ContentBlock::Text(TextContent::new(text))
}

fn link(uri: &str) -> ContentBlock {
    let name = uri.rsplit('/').next().unwrap_or(uri);
    ContentBlock::ResourceLink(ResourceLink::new(name, uri))
}
